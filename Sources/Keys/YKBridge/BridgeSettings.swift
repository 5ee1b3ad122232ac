// SPDX-License-Identifier: Apache-2.0

public import YKHardware
public import YKTransport
public import YKVirtualKeyHost

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

/// An event to show to the user of a bridge.
public enum BridgeEvent: Hashable, Sendable {
    /// Programs find the bridge at this path, which is empty if it has no visible node.
    case inserted(node: String)
    /// Programs find the card in the reader of vpcd at this address.
    case cardInserted(VPCDAddress)
    /// The device was unplugged, or the card removed.
    case removed
    /// A FIDO card is ready in a reader.
    case cardReady(reader: String, isContactless: Bool)
    /// A card in a reader has no FIDO application.
    case cardForeign(reader: String)
    /// A card cannot be used at present.
    case cardFailed(reader: String, LinkError)
    /// A card was removed from its reader.
    case cardLeft(reader: String)
    /// A ceremony waits for its user.
    case waiting(BridgeWait, for: Ceremony)
    /// The wait is over.
    case waitEnded
    /// The card has answered, with this CTAP2 status (CTAP 2.2 §8.2); for U2F, 0 means success.
    case answered(Ceremony, reader: String, status: UInt8)
    /// A program asked the device to blink.
    case winked
    /// The smart card service is unavailable.
    case serviceFailed(LinkError)
}

/// The readers whose cards are bridged.
public protocol BridgeReaders: Sendable {
    /// Readers and cards being added, changed and removed, starting with those already present.
    func events() -> AsyncStream<ReaderEvent>
    /// Connects to the card in a reader, without locking other programs out.
    func connect(reader: String, deadline: Deadline) throws(LinkError) -> sending any CardLink
}

/// The readers of the smart card service.
public struct ServiceReaders: BridgeReaders {
    /// Creates access to them.
    public init() {}
    /// Readers and cards, as reported by the service.
    public func events() -> AsyncStream<ReaderEvent> { PCSC.watch() }
    /// Connects to the card in a reader.
    public func connect(reader: String, deadline: Deadline) throws(LinkError) -> sending any CardLink {
        try PCSC.connect(reader: reader, deadline: deadline)
    }
}
