// SPDX-License-Identifier: Apache-2.0

import YKProtocols
import YKWire

/// Describes Yubico OATH (YKOATH).
enum OATHNarration: ApplicationNarration {
    private typealias Instruction = OATHProtocol.Instruction
    private typealias Tag = OATHProtocol.Tag

    static var vocabulary: any CardVocabulary.Type { OATHProtocol.self }

    static func phrase(_ command: NarratedCommand) -> (String, [String])? {
        let fields = command.data.fields.list
        let account = fields.first { $0.tag == Tag.name }.map { " \(accountName($0.value))" } ?? ""
        let period = fields.first { $0.tag == Tag.name }.map { Self.period($0.value) } ?? 30
        let time = fields.first { $0.tag == Tag.challenge }.flatMap { Self.time($0.value, period: period) } ?? ""
        let full = command.p2 == 0x01 ? "" : ", full response"
        guard let name = OATHProtocol.name(of: command.apdu) else { return nil }
        switch command.ins {
        case Instruction.put: return ("\(name)\(account)", putLines(command.data))
        case Instruction.delete: return ("\(name)\(account)", [])
        case Instruction.setCode: return setCode(command)
        case Instruction.rename: return (name, command.data.lines { "name \(accountName($0.value))" })
        case Instruction.calculate: return ("\(name)\(account)\(time)\(full)", leftover(command))
        case Instruction.validate: return ("\(name) the password", command.data.lines(line))
        case Instruction.calculateAll: return ("\(name)\(time)\(full)", leftover(command))
        default: return nil
        }
    }

    static func selected(_ data: MaskedBytes) -> [String]? {
        data.lines { field in
            switch field.tag {
            case Tag.name: "salt \(field.value.hex)"
            case Tag.challenge: "challenge \(field.value.hex): a password is set"
            default: line(field)
            }
        }
    }

    static func reply(_ data: MaskedBytes, to command: NarratedCommand) -> [String]? {
        let (lines, used) = partialReply(data, to: command)
        let rest = data.dropFirst(used)
        return lines + (rest.isEmpty ? [] : ["not a data object: \(rest.hex)"])
    }

    static func partialReply(_ data: MaskedBytes, to command: NarratedCommand) -> ([String], Int) {
        var (list, rest) = data.fields
        var used = data.count - rest.count
        // An account name is described together with its code.
        if !rest.isEmpty, let last = list.last, last.tag == Tag.name {
            list.removeLast()
            used -= 2 + last.value.count
        }
        var lines: [String] = []
        var name: String?
        for field in list {
            if field.tag == Tag.name, command.ins == Instruction.calculateAll {
                if let name { lines.append("account \(name)") }
                name = accountName(field.value)
            } else {
                lines.append((name.map { "account \($0): " } ?? "") + line(field))
                name = nil
            }
        }
        if let name { lines.append("account \(name)") }
        return (lines, max(0, used))
    }

    private static func leftover(_ command: NarratedCommand) -> [String] {
        let rest = command.data.fields.rest
        return rest.isEmpty ? [] : ["not a data object: \(rest.hex)"]
    }

    private static func line(_ field: MaskedBytes.Field) -> String {
        let value = field.value
        switch field.tag {
        case Tag.name: return "name \(accountName(value))"
        case Tag.nameList: return "account \(accountName(value.dropFirst(1))), \(kind(value[0]))"
        case Tag.key: return "key \(value.hex)"
        case Tag.challenge: return "challenge \(value.hex)"
        case Tag.fullResponse where value.count == 20 || value.count == 32 || value.count == 64:
            return "response \(value.hex(limit: 64))"
        case Tag.fullResponse: return "full response, \(value[0]) digits: \(value.dropFirst(1).hex(limit: 64))"
        case Tag.truncatedResponse: return "code \(code(value))"
        case Tag.noResponse: return "HOTP, no code generated"
        case Tag.version: return "version \(version(value))"
        case Tag.initialCounter: return "counter \(value.number.map(String.init) ?? value.hex)"
        case Tag.algorithm: return "algorithm of the password \(algorithm(value[0]))"
        case Tag.touch: return "touch needed, no code generated"
        default: return "\(field.name(in: OATHProtocol.self)): \(value.hex)"
        }
    }

    /// PUT's property is a tag and a value without a length between them.
    private static func putLines(_ data: MaskedBytes) -> [String] {
        var lines: [String] = []
        var rest = data
        while !rest.isEmpty {
            if rest[0] == Tag.property.rawValue, rest.count >= 2 {
                lines.append(rest[1] & 0x02 != 0 ? "touch needed" : "property \(Hex.encode([rest[1]]))")
                rest = rest.dropFirst(2)
                continue
            }
            guard let field = rest.fields.list.first else { return lines + ["not a data object: \(rest.hex)"] }
            if field.tag == Tag.key {
                let secret = field.value.dropFirst(2)
                lines.append("\(kind(field.value[0])), \(field.value[1]) digits, secret of \(secret.count) bytes")
            } else if field.tag != Tag.name {
                lines.append(line(field))
            }
            rest = rest.afterFirstField
        }
        return lines
    }

    private static func setCode(_ command: NarratedCommand) -> (String, [String]) {
        let key = command.data.fields.list.first { $0.tag == Tag.key }?.value
        guard let key, !key.isEmpty else { return ("SET CODE: remove the password", []) }
        let others = command.data.fields.list.filter { $0.tag != Tag.key }.map(line)
        return ("SET CODE: set the password", ["key \(key.dropFirst(1).hex), \(kind(key[0]))"] + others)
    }

    private static func accountName(_ value: MaskedBytes) -> String { value.text.droppingQuotes }

    private static func period(_ name: MaskedBytes) -> Int64 {
        let digits = name.bytes.prefix { $0 != UInt8(ascii: "/") }
        guard digits.count < name.count else { return 30 }
        return Int64(String(decoding: digits, as: UTF8.self)) ?? 30
    }

    private static func time(_ challenge: MaskedBytes, period: Int64) -> String? {
        guard challenge.count == 8, let step = challenge.number.flatMap(Int64.init(exactly:)) else {
            return challenge.isEmpty ? nil : " with challenge \(challenge.hex)"
        }
        let (seconds, overflows) = step.multipliedReportingOverflow(by: period)
        return overflows ? " with challenge \(challenge.hex)" : " at \(Self.time(seconds))"
    }

    /// A time in seconds since 1970 as `2025-10-09 08:53:00 UTC`, or the bare number outside the years 1970 to 9999.
    static func time(_ seconds: Int64) -> String {
        guard (0..<253_402_300_800).contains(seconds) else { return "\(seconds) s since 1970" }
        return UTCDate.timestamp(seconds, separator: " ", zone: " UTC")
    }

    private static func kind(_ byte: UInt8) -> String {
        let type = [0x10: "HOTP", 0x20: "TOTP"][byte & 0xF0] ?? "type \(byte >> 4)"
        return "\(type) \(algorithm(byte))"
    }

    private static func algorithm(_ byte: UInt8) -> String {
        [1: "SHA-1", 2: "SHA-256", 3: "SHA-512"][byte & 0x0F] ?? "algorithm \(byte & 15)"
    }

    private static func code(_ value: MaskedBytes) -> String {
        guard value.count == 5, let number = value.dropFirst(1).number else { return value.hex }
        let digits = Int(value[0])
        guard (1...10).contains(digits) else { return value.hex }
        let modulus = (0..<digits).reduce(UInt64(1)) { product, _ in product * 10 }
        let text = String((number & 0x7FFF_FFFF) % modulus)
        return String(repeating: "0", count: max(0, digits - text.count)) + text
    }

    static func version(_ value: MaskedBytes) -> String { value.bytes.map(String.init).joined(separator: ".") }
}

extension MaskedBytes {
    /// The bytes after the first data object.
    var afterFirstField: MaskedBytes {
        var reader = ByteReader(bytes)
        guard (try? reader.tlvTag()) != nil, let length = try? reader.tlvLength(),
            (try? reader.reader(length)) != nil
        else { return MaskedBytes([]) }
        return dropFirst(reader.offset)
    }
}

extension String {
    var droppingQuotes: String {
        hasPrefix("\"") && hasSuffix("\"") && count >= 2 ? String(dropFirst().dropLast()) : self
    }
}
