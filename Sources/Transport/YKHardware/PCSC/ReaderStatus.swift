// SPDX-License-Identifier: Apache-2.0

public import YKTransport
public import YKWire

/// A reader and its card.
public struct ReaderStatus: Sendable, Hashable {
    /// The name assigned by pcscd; changes when readers are plugged in in another order.
    public var name: String
    /// Whether a card is present.
    public var hasCard: Bool
    /// The answer to reset of the card; empty when there is no card or it is mute.
    public var atr: [UInt8]
    /// Whether a program is connected to the card.
    public var isInUse: Bool
    /// Whether a program has exclusive use of the card.
    public var isExclusive: Bool
    /// Whether a card is present that does not respond when powered.
    public var isMute: Bool

    /// Creates a status.
    public init(
        name: String, hasCard: Bool, atr: [UInt8] = [], isInUse: Bool = false, isExclusive: Bool = false,
        isMute: Bool = false
    ) {
        self.name = name
        self.hasCard = hasCard
        self.atr = atr
        self.isInUse = isInUse
        self.isExclusive = isExclusive
        self.isMute = isMute
    }

    /// The card on a contactless reader, according to its answer to reset; `nil` for a card with contacts.
    public var contactless: ContactlessCard? { (try? ATR(decoding: atr))?.contactless }
}

/// A change of a reader.
public enum ReaderEvent: Sendable, Hashable {
    /// A reader was added.
    case added(ReaderStatus)
    /// A card was inserted, removed or replaced.
    case changed(ReaderStatus)
    /// The reader of this name was removed.
    case removed(String)
    /// All readers that were present at the start have been reported.
    case enumerated
    /// The service is currently unavailable.
    case interrupted(LinkError)
}
