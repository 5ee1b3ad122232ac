// SPDX-License-Identifier: Apache-2.0

public import YKWire

/// A powered card: command APDUs in, response APDUs out, under a deadline.
///
/// A link knows nothing of SELECT, chaining, PINs or status words. It is synchronous, used by one thread at a time, and
/// transferred once to the service that uses it.
public protocol CardLink: AnyObject {
    /// The identity of the card and its reader.
    var identity: CardIdentity { get }
    /// Whether ``end()`` and ``close()`` reset the card, so that no other program can use what was unlocked.
    var resetsOnRelease: Bool { get set }
    /// Whether ``end()`` and ``close()`` reset a card that another program had open before. GnuPG, for one, selects its
    /// application again only after a reset.
    var resetsWhenShared: Bool { get set }

    /// Sends one command APDU unmodified and returns the response APDU as received.
    func exchange(_ command: [UInt8], deadline: Deadline) throws(LinkError) -> [UInt8]

    /// Locks other programs out of the card until ``end()``. Returns whether the card was reset, or could have been
    /// used by another program, since the last time, so that selecting and unlocking must be repeated.
    func begin(deadline: Deadline) throws(LinkError) -> Bool

    /// Lets other programs use the card.
    func end()

    /// Resets the card; the selection and unlocked state are lost.
    func reset(_ kind: CardReset, deadline: Deadline) throws(LinkError)

    /// Closes the connection to the card.
    func close()
}

extension CardLink {
    /// False: a link that ends with the program leaves nothing unlocked.
    public var resetsOnRelease: Bool {
        get { false }
        set {}
    }
    /// False: no other program has the card.
    public var resetsWhenShared: Bool {
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

/// The identity of a card and its reader.
public struct CardIdentity: Sendable, Hashable {
    /// The name of the reader.
    public var reader: String
    /// The answer to reset as received.
    public var atr: [UInt8]
    /// The longest command APDU that the reader accepts, in bytes, if it reports that.
    public var maxCommandLength: Int?

    /// Creates an identity.
    public init(reader: String, atr: [UInt8], maxCommandLength: Int? = nil) {
        self.reader = reader
        self.atr = atr
        self.maxCommandLength = maxCommandLength
    }

    /// Whether card and reader are known to accept extended lengths.
    public var takesExtendedLength: Bool {
        guard maxCommandLength.map({ $0 > 261 }) ?? true else { return false }
        return (try? ATR(decoding: atr))?.saysExtendedLength ?? false
    }
}

/// Why an operation on a smart-card application failed.
public enum CardError: Error, Hashable, Sendable {
    /// The link below failed.
    case link(LinkError)
    /// The application is not on this card, or is disabled.
    case appletMissing(AID)
    /// The card answered the named command with a status word other than success.
    case status(StatusWord, during: String)
    /// The reply to the named command violates the protocol.
    case malformed(WireError, during: String)
    /// The card announces more data for the named command without end, or without sending any.
    case endlessReply(during: String)
    /// The named command is too long for the card or reader.
    case tooLong(during: String)
    /// The secure channel could not be opened, or ended.
    case secureChannel(SecureChannelFault)
}

/// A command of a smart-card application: its encoding and the meaning of its reply.
public protocol CardCommand {
    /// The decoded reply.
    associatedtype Response

    /// The name in the application's specification.
    static var name: String { get }
    /// Whether it changes nothing on the card even if it fails, so that it can be sent again when its exchange breaks off.
    static var isRepeatable: Bool { get }
    /// The encoded command.
    var apdu: APDU { get }
    /// Decodes the data of a reply with status 9000.
    func decode(_ reader: inout ByteReader) throws(WireError) -> Response
}

extension CardCommand {
    /// False: the command is sent once.
    public static var isRepeatable: Bool { false }
}

extension CardCommand where Response == Void {
    /// Expects no data; data that some firmware sends anyway is ignored.
    public func decode(_ reader: inout ByteReader) {}
}

extension CardIdentity {
    /// Whether this is a YubiKey according to its ATR, or to the reader's name unless the ATR contradicts it.
    package var isYubiKey: Bool {
        text.contains(bytesOf: "yubi")
            || reader.lowercased().contains(bytesOf: "yubi") && !Self.others.contains { text.contains(bytesOf: $0) }
    }

    /// Whether this is a CanoKey: canokey-core has `Canokey` in the historical bytes of its ATR.
    package var isCanoKey: Bool { text.contains(bytesOf: "canokey") }

    /// Whether this is a Token2 key according to the reader's name.
    package var isToken2: Bool { reader.lowercased().contains(bytesOf: "token2") }

    /// Other vendors, whose keys may be in a reader with "yubi" in its name, such as a virtual one.
    private static let others = ["canokey", "nitrokey", "solo"]

    /// The printable part of the ATR, in lower case.
    private var text: String {
        String(decoding: atr.map { (0x20..<0x7F).contains($0) ? $0 : 0x20 }, as: UTF8.self).lowercased()
    }

    /// Whether the reader is not known to be limited to short commands.
    package var readerTakesExtendedLength: Bool { maxCommandLength.map { $0 > 261 } ?? true }
}
