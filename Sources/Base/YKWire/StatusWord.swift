// SPDX-License-Identifier: Apache-2.0

/// The two bytes that end every response APDU (ISO 7816-4 §5.1.3).
public struct StatusWord: OpenSet {
    /// SW1 in the high byte, SW2 in the low byte.
    public let rawValue: UInt16

    /// Wraps a status word.
    public init(rawValue: UInt16) { self.rawValue = rawValue }

    /// 9000: success.
    public static let ok = StatusWord(0x9000)
    /// 6285: the selected file has no data.
    public static let noInputData = StatusWord(0x6285)
    /// 6581: the card could not write its memory.
    public static let memoryFailure = StatusWord(0x6581)
    /// 6600: a security-related problem; OpenPGP cards report with it that they were not touched.
    public static let securityRelated = StatusWord(0x6600)
    /// 6700: wrong length.
    public static let wrongLength = StatusWord(0x6700)
    /// 6982: a password, PIN or key is required.
    public static let securityStatusNotSatisfied = StatusWord(0x6982)
    /// 6983: the PIN or key is blocked.
    public static let authenticationBlocked = StatusWord(0x6983)
    /// 6984: the data is invalid; OATH returns it for an unknown name.
    public static let dataInvalid = StatusWord(0x6984)
    /// 6985: conditions not met; U2F returns it while it waits for a touch.
    public static let conditionsNotSatisfied = StatusWord(0x6985)
    /// 6986: not allowed now.
    public static let commandNotAllowed = StatusWord(0x6986)
    /// 6999: the application could not be selected.
    public static let appletSelectFailed = StatusWord(0x6999)
    /// 6A80: the command data is wrong.
    public static let incorrectParameters = StatusWord(0x6A80)
    /// 6A81: function not supported.
    public static let functionNotSupported = StatusWord(0x6A81)
    /// 6A82: file or application not found.
    public static let notFound = StatusWord(0x6A82)
    /// 6A83: record not found.
    public static let recordNotFound = StatusWord(0x6A83)
    /// 6A84: no space left.
    public static let noSpace = StatusWord(0x6A84)
    /// 6A88: referenced data not found.
    public static let referenceNotFound = StatusWord(0x6A88)
    /// 6A86: wrong P1 or P2, in most applications.
    public static let incorrectP1P2 = StatusWord(0x6A86)
    /// 6B00: wrong P1 or P2.
    public static let wrongParameters = StatusWord(0x6B00)
    /// 6D00: the instruction is unknown to the selected application.
    public static let unknownInstruction = StatusWord(0x6D00)
    /// 6E00: the class is unknown.
    public static let unknownClass = StatusWord(0x6E00)
    /// 6F00: aborted without a precise reason.
    public static let aborted = StatusWord(0x6F00)
    /// 9100: CTAP over NFC is still working (CTAP 2.1 §11.3.5).
    public static let stillWorking = StatusWord(0x9100)

    /// The first byte.
    public var sw1: UInt8 { UInt8(truncatingIfNeeded: rawValue >> 8) }
    /// The second byte.
    public var sw2: UInt8 { UInt8(truncatingIfNeeded: rawValue) }
    /// The number of retries left, for 63Cx; `nil` for other words.
    public var triesLeft: Int? { rawValue & 0xFFF0 == 0x63C0 ? Int(rawValue & 15) : nil }
    /// The number of bytes available from GET RESPONSE, for 61xx (00 means 256 or more); `nil` for other words.
    public var bytesRemaining: Int? { sw1 == 0x61 ? (sw2 == 0 ? 256 : Int(sw2)) : nil }
    /// The correct Le according to the card, for 6Cxx (00 means 256); `nil` for other words.
    public var correctLe: Int? { sw1 == 0x6C ? (sw2 == 0 ? 256 : Int(sw2)) : nil }

    /// Four lower-case hexadecimal digits.
    public var hex: String { Hex.encode([sw1, sw2]) }

    /// The digits and, if known, the meaning.
    public var description: String { meaning.map { "\(hex) (\($0))" } ?? hex }

    /// The meaning in a few words; `nil` for an unknown word.
    public var meaning: String? {
        if let tries = triesLeft { return tries == 1 ? "1 try left" : "\(tries) tries left" }
        if let more = bytesRemaining { return "\(more) or more bytes to come" }
        if let length = correctLe { return "wrong Le, should be \(length)" }
        return Self.meanings[rawValue]
    }

    private static let meanings: [UInt16: String] = [
        0x9000: "ok", 0x6283: "deactivated", 0x6300: "verification failed", 0x6881: "logical channel not supported",
        0x6882: "secure messaging not supported", 0x6883: "last command of a chain expected",
        0x6884: "command chaining not supported", 0x6987: "secure messaging data missing",
        0x6988: "secure messaging data wrong", 0x6A86: "wrong P1 P2", 0x6A89: "exists already", 0x6285: "no input data",
        0x6581: "memory failure", 0x6700: "wrong length",
        0x6982: "security status not satisfied", 0x6983: "authentication blocked", 0x6984: "data invalid",
        0x6985: "conditions not satisfied", 0x6986: "command not allowed", 0x6999: "select failed",
        0x6A80: "incorrect parameters", 0x6A81: "function not supported", 0x6A82: "not found",
        0x6A83: "record not found", 0x6A84: "no space", 0x6A88: "reference not found",
        0x6B00: "wrong P1 P2", 0x6D00: "unknown instruction", 0x6E00: "unknown class", 0x6F00: "aborted",
        0x9100: "still working",
    ]
}
