// SPDX-License-Identifier: Apache-2.0

import YKWire

/// Finds the bytes of a session's exchanges that hold a secret: PINs, passwords and keys on their way to the card.
///
/// It follows SELECT and command chaining, because the same instruction is a secret in one application and not in
/// another.
package struct Redactor: Sendable {
    private var applet: [UInt8] = []
    private var isInChain = false

    package init() {}

    /// The runs to overwrite in a command and in its reply.
    package mutating func masks(
        command bytes: [UInt8], reply: [UInt8]
    ) -> (command: [Capture.Event.Mask], reply: [Capture.Event.Mask]) {
        guard let command = try? APDU(decoding: bytes) else { return ([], []) }
        if command.ins == 0xA4, command.p1 == 0x04 {
            if reply.suffix(2) == [0x90, 0x00] || reply.dropLast().last == 0x61 { applet = command.data }
            isInChain = false
            return ([], [])
        }
        let wasInChain = isInChain
        isInChain = command.cla & 0x10 != 0
        let start = Self.dataOffset(bytes)
        let runs = secrets(in: command, isPart: isInChain || wasInChain)
        return (runs.map { .init(offset: start + $0.lowerBound, length: $0.count) }, replyMasks(command, reply))
    }

    private static func dataOffset(_ command: [UInt8]) -> Int {
        command.count > 7 && command[4] == 0 ? 7 : 5
    }

    private func secrets(in command: APDU, isPart: Bool) -> [Range<Int>] {
        let data = command.data
        let all = data.isEmpty ? [] : [0..<data.count]
        switch (application, command.ins) {
        case (_, 0x20), (_, 0x24), (_, 0x2C): return all
        case (.oath, 0x01): return isPart ? all : Self.value(of: 0x73, in: data, skipping: 2) ?? all
        case (.oath, 0x03): return isPart ? all : Self.value(of: 0x73, in: data, skipping: 1) ?? all
        case (.piv, 0xFE), (.piv, 0xFF): return all
        case (.piv, 0xDB): return data.starts(with: [0x5C, 0x03, 0x5F, 0xC1, 0x09]) ? all : []
        case (.fido, 0x10): return isPart || data.first == 0x06 && data.count > 6 ? all : []
        case (.otp, 0x01): return [0x01, 0x03, 0x04, 0x05].contains(command.p1) ? all : []
        case (.management, 0x1C):
            let lock = Self.configurationValue(of: 0x0A, in: data) + Self.configurationValue(of: 0x0B, in: data)
            return isPart ? all : lock
        case (.openPGP, 0xDB): return all
        case (.hsmAuth, 0x01), (.hsmAuth, 0x08), (.hsmAuth, 0x0B), (.hsmAuth, 0x02): return all
        default: return []
        }
    }

    private func replyMasks(_ command: APDU, _ reply: [UInt8]) -> [Capture.Event.Mask] {
        let isPrinted = command.ins == 0xCB && command.data.starts(with: [0x5C, 0x03, 0x5F, 0xC1, 0x09])
        guard application == .piv, isPrinted, reply.count > 2 else { return [] }
        return [.init(offset: 0, length: reply.count - 2)]
    }

    private var application: AID? {
        [.oath, .piv, .fido, .otp, .management, .openPGP, .hsmAuth].first { $0.matches(applet) }
    }

    /// Where the value of a tag is, less its first `skip` bytes; `nil` when the data cannot be read as data objects.
    private static func value(of wanted: UInt32, in data: [UInt8], skipping skip: Int) -> [Range<Int>]? {
        var reader = ByteReader(data)
        var found: [Range<Int>] = []
        while !reader.isAtEnd {
            guard let tag = try? reader.tlvTag() else { return nil }
            if tag == 0x78 {  // OATH's property has no length byte.
                _ = try? reader.byte()
                continue
            }
            guard let length = try? reader.tlvLength() else { return nil }
            let start = reader.offset
            guard (try? reader.bytes(length)) != nil else { return nil }
            if tag.rawValue == wanted, length > skip { found.append((start + skip)..<(start + length)) }
        }
        return found
    }

    private static func configurationValue(of wanted: UInt32, in data: [UInt8]) -> [Range<Int>] {
        guard data.count > 1 else { return [] }
        let inner = value(of: wanted, in: Array(data.dropFirst()), skipping: 0) ?? [0..<(data.count - 1)]
        return inner.map { ($0.lowerBound + 1)..<($0.upperBound + 1) }
    }
}
