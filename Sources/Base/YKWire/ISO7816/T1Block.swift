// SPDX-License-Identifier: Apache-2.0

/// A block of the transmission protocol T=1 (ISO 7816-3 §11.3).
public struct T1Block: Hashable, Sendable {
    /// The type of a block (ISO 7816-3 §11.3.2.2).
    public enum Kind: Hashable, Sendable {
        /// An information block: its number, 0 or 1, and whether more follow.
        case information(number: UInt8, isMore: Bool)
        /// Ready for the information block of this number; with the error that the last block had: 1 for its check, 2
        /// for anything else.
        case ready(number: UInt8, error: UInt8)
        /// A supervisory request, or the response to one.
        case supervisory(Supervision, isResponse: Bool)
    }

    /// The subject of a supervisory block.
    public struct Supervision: OpenSet {
        /// The low five bits of the protocol control byte.
        public let rawValue: UInt8
        /// Wraps the bits.
        public init(rawValue: UInt8) { self.rawValue = rawValue & 0x1F }
        /// Resets the block numbers to 0.
        public static let resynchronise = Supervision(rawValue: 0)
        /// The size of information fields.
        public static let size = Supervision(rawValue: 1)
        /// Aborts a chain.
        public static let abort = Supervision(rawValue: 2)
        /// The card needs more time.
        public static let moreTime = Supervision(rawValue: 3)
    }

    /// The error detection code of blocks.
    public enum Check: Hashable, Sendable {
        /// One byte: the exclusive or of all bytes.
        case lrc
        /// Two bytes: CRC of ISO/IEC 13239, the most significant first.
        case crc
    }

    /// The maximum size of the information field, in bytes.
    public static let informationLimit = 254

    /// The node address; 0 when unused.
    public var node: UInt8
    /// The type.
    public var kind: Kind
    /// The information field.
    public var information: [UInt8]

    /// Creates a block.
    public init(_ kind: Kind, _ information: [UInt8] = [], node: UInt8 = 0) {
        self.kind = kind
        self.information = information
        self.node = node
    }
}

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
