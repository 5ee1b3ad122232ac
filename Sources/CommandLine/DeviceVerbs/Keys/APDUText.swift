// SPDX-License-Identifier: Apache-2.0

import TerminalIO
import Verbs
import YKProtocols
import YKTransport
import YKWire

/// A command in the form `[CLA]INS[P1P2][:DATA][/LE][=SW]`, all in hexadecimal.
struct APDUText: Hashable {
    /// The command.
    var apdu: APDU
    /// The expected status word, if any.
    var expected: StatusWord?

    /// Parses the form; the error states the expected form.
    init(_ text: String) throws(Explanation) {
        let (beforeStatus, status) = text.cut("=")
        let (beforeLe, le) = beforeStatus.cut("/")
        let (head, data) = beforeLe.cut(":")
        let bytes = try Self.hex(head, "the header", text)
        switch bytes.count {
        case 1: apdu = APDU(ins: bytes[0])
        case 2: apdu = APDU(cla: bytes[0], ins: bytes[1])
        case 3: apdu = APDU(ins: bytes[0], p1: bytes[1], p2: bytes[2])
        case 4: apdu = APDU(cla: bytes[0], ins: bytes[1], p1: bytes[2], p2: bytes[3])
        default: throw Self.refusal(text, "the header must have 1 to 4 bytes")
        }
        if let data { apdu.data = try Self.hex(data, "DATA", text) }
        if let le { apdu.le = try Self.le(le, text) }
        if let status { expected = status.isEmpty ? .ok : try Self.status(status, text) }
    }

    /// Parses a complete command APDU in hexadecimal, of at least the four header bytes.
    static func whole(_ text: String) throws(Explanation) -> [UInt8] {
        guard let bytes = try? Hex.decode(text), bytes.count >= 4 else {
            throw .usage("'\(text.printable)' is not a complete command: at least four bytes in hexadecimal")
        }
        return bytes
    }

    private static func le(_ text: String, _ whole: String) throws(Explanation) -> APDU.Le {
        let bytes = try hex(text, "LE", whole)
        guard (1...2).contains(bytes.count) else { throw refusal(whole, "LE must have one or two bytes") }
        let value = bytes.reduce(UInt16(0)) { $0 << 8 | UInt16($1) }
        return value == 0 ? .max : .bytes(value)
    }

    private static func status(_ text: String, _ whole: String) throws(Explanation) -> StatusWord {
        let bytes = try hex(text, "SW", whole)
        guard bytes.count == 2 else { throw refusal(whole, "SW must have two bytes") }
        return StatusWord(UInt16(bytes[0]) << 8 | UInt16(bytes[1]))
    }

    private static func hex(_ text: String, _ what: String, _ whole: String) throws(Explanation) -> [UInt8] {
        do { return try Hex.decode(text) } catch { throw refusal(whole, "\(what): \(error)") }
    }

    private static func refusal(_ text: String, _ why: String) -> Explanation {
        .usage("'\(text.printable)' is not [CLA]INS[P1P2][:DATA][/LE][=SW]: \(why)")
    }
}

extension String {
    /// The parts before and after the first `separator`.
    func cut(_ separator: Character) -> (String, String?) {
        guard let index = firstIndex(of: separator) else { return (self, nil) }
        return (String(self[..<index]), String(self[self.index(after: index)...]))
    }
}

/// An application, given by name or by its AID in hexadecimal.
enum ApplicationName {
    static var names: [(String, AID)] { CardVocabularies.known.all.map { ($0.keyword, $0.aid) } }

    static func aid(_ text: String) throws(Explanation) -> AID {
        if let known = names.first(where: { $0.0 == text.lowercased() }) { return known.1 }
        guard let bytes = try? Hex.decode(text), (5...16).contains(bytes.count) else {
            let list = names.map(\.0).listed()
            throw .usage(
                "'\(text.printable)' is not an application", hint: "one of \(list), or 5 to 16 bytes in hexadecimal")
        }
        return AID(rawValue: bytes)
    }
}
