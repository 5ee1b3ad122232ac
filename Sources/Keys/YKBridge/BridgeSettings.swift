// SPDX-License-Identifier: Apache-2.0

/// The settings of a bridge.
public struct BridgeSettings: Hashable, Sendable {
    /// The name of the only reader to use, or a part of it; `nil` for all readers.
    public var reader: String?
    /// Whether the device stays plugged in even while there is no card.
    public var staysPluggedIn = false
    /// Whether the use of a contact card must be confirmed.
    public var confirms = true
    /// How long a ceremony waits for its user.
    public var patience: Duration = .seconds(30)
    /// The user that owns the node; `nil` for the users that udev's rules for security keys name.
    public var owner: String?

    /// How long a card laid on a reader counts as proof of the user's presence (CTAP 2.2 §11.3.1).
    var presenceTime: Duration = .seconds(120)
    /// How long other programs are locked out of a card after the last message of an unfinished ceremony.
    var holdTime: Duration = .seconds(10)
    /// How long the device stays plugged in after the last card was removed.
    var linger: Duration = .seconds(10)
    /// The timeout for one message to a card.
    var workTime: Duration = .seconds(60)
    /// How long a U2F message waits: programs repeat it every few hundred milliseconds.
    var pollTime: Duration = .milliseconds(500)
    /// The pause before a card that could not be used is tried again.
    var retryTime: Duration = .seconds(1)

    /// Creates the default settings.
    public init() {}
}
