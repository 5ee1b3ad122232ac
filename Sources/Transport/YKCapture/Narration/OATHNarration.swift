// SPDX-License-Identifier: Apache-2.0

import YKTransport
import YKWire

/// Describes Yubico OATH (YKOATH).
enum OATHNarration: ApplicationNarration {
    static func phrase(_ command: NarratedCommand) -> (String, [String])? {
        let fields = command.data.fields.list
        let account = fields.first { $0.tag == 0x71 }.map { " \(accountName($0.value))" } ?? ""
        let period = fields.first { $0.tag == 0x71 }.map { Self.period($0.value) } ?? 30
        let time = fields.first { $0.tag == 0x74 }.flatMap { Self.time($0.value, period: period) } ?? ""
        let full = command.p2 == 0x01 ? "" : ", full response"
        switch command.ins {
        case 0x01: return ("PUT\(account)", putLines(command.data))
        case 0x02: return ("DELETE\(account)", [])
        case 0x03: return setCode(command)
        case 0x04: return command.parameters == 0xDEAD ? ("RESET", []) : nil
        case 0x05: return ("RENAME", command.data.lines { "name \(accountName($0.value))" })
        case 0xA1: return ("LIST", [])
        case 0xA2: return ("CALCULATE\(account)\(time)\(full)", leftover(command))
        case 0xA3: return ("VALIDATE the password", command.data.lines(line))
        case 0xA4: return ("CALCULATE ALL\(time)\(full)", leftover(command))
        default: return nil
        }
    }

    static func selected(_ data: MaskedBytes) -> [String] {
        data.lines { field in
            switch field.tag {
            case 0x71: "salt \(field.value.hex)"
            case 0x74: "challenge \(field.value.hex): a password is set"
            default: line(field)
            }
        }
    }

    static func meaning(_ status: StatusWord, of command: NarratedCommand) -> String? {
        switch (status, command.ins) {
        case (.dataInvalid, 0x02), (.dataInvalid, 0x05), (.dataInvalid, 0xA2): "no such account"
        case (.securityStatusNotSatisfied, _): "locked, the password is needed"
        case (.incorrectParameters, 0xA3): "wrong password"
        case (.noSpace, _): "no space for another account"
        default: nil
        }
    }

    static func reply(_ data: MaskedBytes, to command: NarratedCommand) -> [String] {
        let (lines, used) = partialReply(data, to: command)
        let rest = data.dropFirst(used)
        return lines + (rest.isEmpty ? [] : ["not a data object: \(rest.hex)"])
    }

    static func partialReply(_ data: MaskedBytes, to command: NarratedCommand) -> ([String], Int) {
        var (list, rest) = data.fields
        var used = data.count - rest.count
        // An account name is described together with its code.
        if !rest.isEmpty, let last = list.last, last.tag == 0x71 {
            list.removeLast()
            used -= 2 + last.value.count
        }
        var lines: [String] = []
        var name: String?
        for field in list {
            if field.tag == 0x71, command.ins == 0xA4 {
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
        case 0x71: return "name \(accountName(value))"
        case 0x72: return "account \(accountName(value.dropFirst(1))), \(kind(value[0]))"
        case 0x73: return "key \(value.hex)"
        case 0x74: return "challenge \(value.hex)"
        case 0x75 where value.count == 20 || value.count == 32 || value.count == 64:
            return "response \(value.hex(limit: 64))"
        case 0x75: return "full response, \(value[0]) digits: \(value.dropFirst(1).hex(limit: 64))"
        case 0x76: return "code \(code(value))"
        case 0x77: return "HOTP, no code made"
        case 0x79: return "version \(version(value))"
        case 0x7A: return "counter \(value.number.map(String.init) ?? value.hex)"
        case 0x7B: return "algorithm of the password \(algorithm(value[0]))"
        case 0x7C: return "touch needed, no code made"
        default: return "tag \(Hex.encode(TLV.Tag(rawValue: field.tag).bytes)): \(value.hex)"
        }
    }

    /// PUT's property is a tag and a value without a length between them.
    private static func putLines(_ data: MaskedBytes) -> [String] {
        var lines: [String] = []
        var rest = data
        while !rest.isEmpty {
            if rest[0] == 0x78, rest.count >= 2 {
                lines.append(rest[1] & 0x02 != 0 ? "touch needed" : "property \(Hex.encode([rest[1]]))")
                rest = rest.dropFirst(2)
                continue
            }
            guard let field = rest.fields.list.first else { return lines + ["not a data object: \(rest.hex)"] }
            if field.tag == 0x73 {
                let secret = field.value.dropFirst(2)
                lines.append("\(kind(field.value[0])), \(field.value[1]) digits, secret of \(secret.count) bytes")
            } else if field.tag != 0x71 {
                lines.append(line(field))
            }
            rest = rest.afterFirstField
        }
        return lines
    }

    private static func setCode(_ command: NarratedCommand) -> (String, [String]) {
        let key = command.data.fields.list.first { $0.tag == 0x73 }?.value
        guard let key, !key.isEmpty else { return ("SET CODE: remove the password", []) }
        let others = command.data.fields.list.filter { $0.tag != 0x73 }.map(line)
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
        return overflows ? " with challenge \(challenge.hex)" : " at \(UTCTime.text(seconds))"
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
