// SPDX-License-Identifier: Apache-2.0

import YKWire

/// A card that is powered: command APDUs in, response APDUs out, under a deadline.
///
/// A link knows nothing of SELECT, chaining, PINs or status words. It is synchronous, used by one thread at a time, and
/// handed over once to the service that uses it.
public protocol CardLink: AnyObject {
    /// What is known of the card and its reader.
    var identity: CardIdentity { get }
    /// Whether ``close()`` resets the card, so that no other program inherits what was unlocked.
    var resetOnClose: Bool { get set }

    /// Sends one command APDU as it is and gives the response APDU as it came.
    func exchange(_ command: [UInt8], deadline: Deadline) throws(LinkError) -> [UInt8]

    /// Keeps other programs off the card until ``end()``. Answers whether the card was reset or could have been used
    /// by another program since the last time, so that what was selected and unlocked has to be done again.
    func begin(deadline: Deadline) throws(LinkError) -> Bool

    /// Lets other programs use the card.
    func end()

    /// Resets the card; what was selected and unlocked is lost.
    func reset(_ kind: CardReset, deadline: Deadline) throws(LinkError)

    /// Ends the use of the card.
    func close()
}

extension CardLink {
    /// False: a link that ends with the program leaves nothing to inherit.
    public var resetOnClose: Bool {
        get { false }
        set {}
    }
}

/// How a card is reset (ISO 7816-3 §6.2).
public enum CardReset: Sendable, Hashable {
    /// The reset line only.
    case warm
    /// Power off, power on.
    case cold
}

/// What is known of a card and the reader that it is in.
public struct CardIdentity: Sendable, Hashable {
    /// The name of the reader.
    public var reader: String
    /// The answer to reset as received.
    public var atr: [UInt8]
    /// The longest command APDU that the reader takes, in bytes, where it says so.
    public var maxCommandLength: Int?

    /// Makes an identity.
    public init(reader: String, atr: [UInt8], maxCommandLength: Int? = nil) {
        self.reader = reader
        self.atr = atr
        self.maxCommandLength = maxCommandLength
    }

    /// Whether card and reader are known to take extended lengths.
    public var takesExtendedLength: Bool {
        guard maxCommandLength.map({ $0 > 261 }) ?? true else { return false }
        return (try? ATR(decoding: atr))?.saysExtendedLength ?? false
    }
}
