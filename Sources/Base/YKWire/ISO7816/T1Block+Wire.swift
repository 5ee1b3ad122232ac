// SPDX-License-Identifier: Apache-2.0

extension T1Block {
    /// Decodes a whole block.
    ///
    /// - Throws: `malformed` for a wrong check or an undefined control byte, `tooLarge` for a length of 255.
    public init(decoding bytes: [UInt8], check: Check = .lrc) throws(WireError) {
        var reader = ByteReader(bytes)
        node = try reader.byte("the node address")
        kind = try Self.kind(try reader.byte("the protocol control byte"))
        let length = try reader.byte("the length")
        guard length <= Self.informationLimit else { throw WireError(.tooLarge, at: 2, "a block of 255 bytes") }
        information = try reader.bytes(Int(length), "the information field")
        let found = try reader.bytes(check == .lrc ? 1 : 2, "the check")
        try reader.finish("the block")
        guard found == Self.check(Array(bytes.dropLast(found.count)), check) else {
            throw WireError(.malformed, at: bytes.count - found.count, "the check of a block is wrong")
        }
    }

    private static func kind(_ control: UInt8) throws(WireError) -> Kind {
        if control & 0x80 == 0 { return .information(number: control >> 6 & 1, isMore: control & 0x20 != 0) }
        if control & 0x40 == 0 {
            guard control & 0x20 == 0 else {
                throw WireError(.malformed, at: 1, "control byte \(Hex.encode([control]))")
            }
            return .ready(number: control >> 4 & 1, error: control & 0x0F)
        }
        return .supervisory(.init(rawValue: control), isResponse: control & 0x20 != 0)
    }

    private var control: UInt8 {
        switch kind {
        case .information(let number, let isMore): (number & 1) << 6 | (isMore ? 0x20 : 0)
        case .ready(let number, let error): 0x80 | (number & 1) << 4 | error & 0x0F
        case .supervisory(let what, let isResponse): 0xC0 | (isResponse ? 0x20 : 0) | what.rawValue
        }
    }

    /// The encoded block; information beyond the limit is cut off.
    public func encoded(_ check: Check = .lrc) -> [UInt8] {
        let part = information.prefix(Self.informationLimit)
        let bytes = [node, control, UInt8(part.count)] + part
        return bytes + Self.check(bytes, check)
    }

    private static func check(_ bytes: [UInt8], _ check: Check) -> [UInt8] {
        if check == .lrc { return [bytes.reduce(0, ^)] }
        // CRC-16 with the reflected polynomial 8408, start and final inversion FFFF (ISO/IEC 13239).
        let value = bytes.reduce(0xFFFF as UInt16) { crc, byte in
            (0..<8).reduce(crc ^ UInt16(byte)) { value, _ in value & 1 == 0 ? value >> 1 : value >> 1 ^ 0x8408 }
        }
        return [UInt8(~value >> 8), UInt8(truncatingIfNeeded: ~value)]
    }
}
