// SPDX-License-Identifier: Apache-2.0

public import YKTransport
public import YKWire

/// A reader and what is in it.
public struct ReaderStatus: Sendable, Hashable {
    /// The name that pcscd gives it; changes when readers are plugged in another order.
    public var name: String
    /// Whether there is a card in it.
    public var hasCard: Bool
    /// The answer to reset of the card; empty without a card or when it is mute.
    public var atr: [UInt8]
    /// Whether some program is connected to the card.
    public var isInUse: Bool
    /// Whether a program has the card for itself.
    public var isExclusive: Bool
    /// Whether there is a card that does not answer to power.
    public var isMute: Bool

    /// Makes a status.
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

    /// What lies on a reader without contacts, as far as the answer to reset tells; `nil` for a card with contacts.
    public var contactless: ContactlessCard? { (try? ATR(decoding: atr))?.contactless }
}

/// What happened to a reader.
public enum ReaderEvent: Sendable, Hashable {
    /// A reader is there.
    case added(ReaderStatus)
    /// A card was put in, taken out or exchanged.
    case changed(ReaderStatus)
    /// The reader of this name is gone.
    case removed(String)
    /// Every reader that was there at the beginning has been told of.
    case enumerated
    /// The service cannot be used just now.
    case interrupted(LinkError)
}
