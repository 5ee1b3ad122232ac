// SPDX-License-Identifier: Apache-2.0

/// Parses the traces of yubikey.rs (age-plugin-yubikey with `RUST_LOG=trace`): `yubikey::transaction] >>> [0, 164, …]`,
/// then `yubikey::apdu] <<< Response { status_words: Success, data: [97, …] }`.
struct YubiKeyRSLog: LogReader {
    private var talk = CardTalk()

    mutating func take(_ line: LogLine, _ book: inout SessionBook) throws(CaptureError) {
        guard line.text.has("yubikey::") else { return }
        if line.text.has("::transaction"), let text = line.after(">>> ") {
            guard let bytes = LogLine.list(text) else {
                throw CaptureError(line: line.number, "the command is cut off")
            }
            try talk.sent(bytes, line, &book)
        } else if let text = line.after("<<< Response {") {
            guard let status = text.firstRange(of: "status_words: ").flatMap({ Self.status(text[$0.upperBound...]) })
            else {
                talk.lost("the reply cannot be read", &book)
                throw CaptureError(line: line.number, "the status word has an unknown name")
            }
            guard let data = text.firstRange(of: "data: ").flatMap({ LogLine.list(text[$0.upperBound...]) }) else {
                talk.lost("the reply is cut off in the log", &book)
                throw CaptureError(line: line.number, "the reply is cut off")
            }
            try talk.received(data + [UInt8(status >> 8), UInt8(status & 0xFF)], line, &book)
        }
    }

    private static let names: [Substring: UInt16] = [
        "Success": 0x9000, "NoInputDataError": 0x6285, "WrongLengthError": 0x6700, "SecurityStatusError": 0x6982,
        "AuthBlockedError": 0x6983, "DataInvalidError": 0x6984, "ConditionsNotSatisfiedError": 0x6985,
        "CommandNotAllowedError": 0x6986, "IncorrectParamError": 0x6A80, "NotFoundError": 0x6A82,
        "NoSpaceError": 0x6A84, "ReferenceDataNotFoundError": 0x6A88, "IncorrectSlotError": 0x6B00,
        "NotSupportedError": 0x6D00, "CommandAbortedError": 0x6F00,
    ]

    /// The status word of a name such as `Success`, `Other(24922)` or `VerifyFailError { tries: 2 }`.
    private static func status(_ text: Substring) -> UInt16? {
        let name = text.prefix { $0.isLetter }
        let rest = text.dropFirst(name.count)
        switch name {
        case "Other":
            guard rest.first == "(", rest.has(")") else { return nil }
            return rest.dropFirst().leadingNumber.flatMap { UInt16(exactly: $0) }
        case "BytesRemaining":
            return rest.number(after: "len: ").flatMap { UInt8(exactly: $0) }.map { 0x6100 | UInt16($0) }
        case "VerifyFailError":
            return rest.number(after: "tries: ").flatMap { $0 < 16 ? 0x63C0 | UInt16($0) : nil }
        default: return rest.first == "," ? names[name] : nil
        }
    }
}

extension Substring {
    fileprivate func number(after mark: String) -> Int? {
        firstRange(of: mark).flatMap { self[$0.upperBound...].leadingNumber }
    }
}
