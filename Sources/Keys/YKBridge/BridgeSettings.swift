// SPDX-License-Identifier: Apache-2.0

/// How a bridge behaves.
public struct BridgeSettings: Hashable, Sendable {
    /// Part of the name of the only reader to use; `nil` for all.
    public var reader: String?
    /// Whether the device is there also while there is no card.
    public var staysPluggedIn = false
    /// Whether the use of a card with contacts has to be confirmed.
    public var confirms = true
    /// How long a ceremony waits for its user.
    public var patience: Duration = .seconds(30)
    /// The user that owns the node; `nil` for the users that udev's rules for security keys name.
    public var owner: String?

    /// How long a card laid on a reader shows that its user is there (CTAP 2.2 §11.3.1).
    var presenceTime: Duration = .seconds(120)
    /// How long a card is kept from other programs after the last message of an unfinished ceremony.
    var holdTime: Duration = .seconds(10)
    /// How long the device stays after its last card has left.
    var linger: Duration = .seconds(10)
    /// How long a card may work on one message.
    var workTime: Duration = .seconds(60)
    /// How long a U2F message waits: programs repeat it every few hundred milliseconds.
    var pollTime: Duration = .milliseconds(500)
    /// The pause before a card that could not be used is tried again.
    var retryTime: Duration = .seconds(1)

    /// Creates the default settings.
    public init() {}
}
