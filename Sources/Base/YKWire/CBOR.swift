// SPDX-License-Identifier: Apache-2.0

/// A CBOR data item (RFC 8949 §3) as CTAP2 uses them.
public enum CBOR: Hashable, Sendable {
    /// An integer from 0 to 2^64 - 1.
    case unsigned(UInt64)
    /// The integer -1 - n, down to -2^64.
    case negative(UInt64)
    /// A byte string.
    case bytes([UInt8])
    /// A text string.
    case text(String)
    /// An array.
    case array([CBOR])
    /// A map with unique keys.
    case map(Map)
    /// A tag number and the tagged item.
    indirect case tagged(UInt64, CBOR)
    /// A simple value: 20 false, 21 true, 22 null, 23 undefined, others unassigned.
    case simple(UInt8)
    /// A floating-point number.
    case float(Real)

    /// A floating-point number that keeps the width it was encoded with.
    public struct Real: Hashable, Sendable {
        /// The bits, in the low `width` bytes.
        public let bits: UInt64
        /// The bytes of its encoding: 2, 4 or 8.
        public let width: Int

        init(bits: UInt64, width: Int) { (self.bits, self.width) = (bits, width) }

        /// Creates a double-precision number.
        public init(_ value: Double) { self.init(bits: value.bitPattern, width: 8) }

        /// The number.
        public var value: Double {
            switch width {
            case 2: Self.half(UInt16(truncatingIfNeeded: bits))
            case 4: Double(Float(bitPattern: UInt32(truncatingIfNeeded: bits)))
            default: Double(bitPattern: bits)
            }
        }

        private static func half(_ bits: UInt16) -> Double {
            let exponent = Int(bits >> 10 & 0x1F)
            let fraction = Double(bits & 0x3FF)
            let magnitude =
                switch exponent {
                case 0: fraction * 0x1p-24
                case 31: fraction == 0 ? Double.infinity : Double.nan
                default: (fraction + 1024) * Double(sign: .plus, exponent: exponent - 25, significand: 1)
                }
            return bits & 0x8000 == 0 ? magnitude : -magnitude
        }
    }

    /// `false` or `true`.
    public static func bool(_ value: Bool) -> CBOR { .simple(value ? 21 : 20) }
    /// `null`.
    public static let null = CBOR.simple(22)
    /// `undefined`.
    public static let undefined = CBOR.simple(23)
    /// An integer.
    public static func int(_ value: Int64) -> CBOR {
        value < 0 ? .negative(UInt64(bitPattern: ~value)) : .unsigned(UInt64(bitPattern: value))
    }

    /// The value, when this is an integer that fits a signed 64-bit integer.
    public var int: Int64? {
        switch self {
        case .unsigned(let number): Int64(exactly: number)
        case .negative(let number): Int64(exactly: number).map { ~$0 }
        default: nil
        }
    }
    /// The value, when this is a non-negative integer.
    public var unsigned: UInt64? { if case .unsigned(let number) = self { number } else { nil } }
    /// The bytes, when this is a byte string.
    public var bytes: [UInt8]? { if case .bytes(let bytes) = self { bytes } else { nil } }
    /// The text, when this is a text string.
    public var text: String? { if case .text(let text) = self { text } else { nil } }
    /// The value, when this is a boolean.
    public var bool: Bool? {
        switch self {
        case .simple(20): false
        case .simple(21): true
        default: nil
        }
    }
    /// The elements, when this is an array.
    public var array: [CBOR]? { if case .array(let elements) = self { elements } else { nil } }
    /// The map, when this is one.
    public var map: Map? { if case .map(let map) = self { map } else { nil } }

    /// The kind of item, in a word.
    public var kindName: String {
        switch self {
        case .unsigned, .negative: "an integer"
        case .bytes: "bytes"
        case .text: "text"
        case .array: "an array"
        case .map: "a map"
        case .tagged: "a tagged item"
        case .simple(20), .simple(21): "a boolean"
        case .simple(22): "null"
        case .simple: "a simple value"
        case .float: "a floating-point number"
        }
    }
}

extension CBOR: ExpressibleByIntegerLiteral, ExpressibleByStringLiteral, ExpressibleByBooleanLiteral,
    ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    /// An integer.
    public init(integerLiteral value: Int64) { self = .int(value) }
    /// A text string.
    public init(stringLiteral value: String) { self = .text(value) }
    /// `false` or `true`.
    public init(booleanLiteral value: Bool) { self = .bool(value) }
    /// An array.
    public init(arrayLiteral elements: CBOR...) { self = .array(elements) }
    /// A map; the last value of a duplicate key wins.
    public init(dictionaryLiteral elements: (CBOR, CBOR)...) {
        var map = Map()
        for (key, value) in elements { map[key] = value }
        self = .map(map)
    }
}

extension CBOR {
    /// The item in CTAP2's canonical form (CTAP 2.1 §8): shortest lengths, definite lengths, sorted map keys.
    public var encoded: [UInt8] {
        var out: [UInt8] = []
        out.reserveCapacity(64)
        write(to: &out)
        return out
    }

    /// Appends the item in CTAP2's canonical form.
    public func write(to out: inout [UInt8]) {
        switch self {
        case .unsigned(let number): Self.head(0, number, to: &out)
        case .negative(let number): Self.head(1, number, to: &out)
        case .bytes(let bytes):
            Self.head(2, UInt64(bytes.count), to: &out)
            out += bytes
        case .text(let text):
            Self.head(3, UInt64(text.utf8.count), to: &out)
            out += text.utf8
        case .array(let elements):
            Self.head(4, UInt64(elements.count), to: &out)
            for element in elements { element.write(to: &out) }
        case .map(let map):
            Self.head(5, UInt64(map.count), to: &out)
            for entry in map.canonicalEntries {
                entry.key.write(to: &out)
                entry.value.write(to: &out)
            }
        case .tagged(let tag, let item):
            Self.head(6, tag, to: &out)
            item.write(to: &out)
        case .simple(let value): Self.head(7, UInt64(value), to: &out)
        case .float(let real):
            out.append(real.width == 2 ? 0xF9 : real.width == 4 ? 0xFA : 0xFB)
            Self.bigEndian(real.bits, real.width, to: &out)
        }
    }

    private static func head(_ major: UInt8, _ argument: UInt64, to out: inout [UInt8]) {
        let type = major << 5
        switch argument {
        case 0..<24: out.append(type | UInt8(truncatingIfNeeded: argument))
        case 24...0xFF:
            out.append(type | 24)
            out.append(UInt8(truncatingIfNeeded: argument))
        case 0x100...0xFFFF:
            out.append(type | 25)
            bigEndian(argument, 2, to: &out)
        case 0x1_0000...0xFFFF_FFFF:
            out.append(type | 26)
            bigEndian(argument, 4, to: &out)
        default:
            out.append(type | 27)
            bigEndian(argument, 8, to: &out)
        }
    }

    private static func bigEndian(_ value: UInt64, _ count: Int, to out: inout [UInt8]) {
        for shift in stride(from: (count - 1) * 8, through: 0, by: -8) {
            out.append(UInt8(truncatingIfNeeded: value >> UInt64(shift)))
        }
    }

    /// How strict a decoder is.
    public enum Mode: Sendable, Hashable {
        /// Accepts deviations from CTAP2's canonical form and reports them as warnings.
        case lenient
        /// Throws on deviations from CTAP2's canonical form (CTAP 2.1 §8).
        case strict
    }

    /// The size limits of a decoder.
    public struct Limits: Sendable, Hashable {
        /// The maximum nesting depth; a lone integer has depth 0.
        public var depth: Int
        /// The maximum size of one item in bytes.
        public var bytes: Int

        /// Creates limits, by default 16 levels and 1 MiB.
        public init(depth: Int = 16, bytes: Int = 1 << 20) {
            self.depth = depth
            self.bytes = bytes
        }
    }

    /// A deviation from canonical form.
    public struct Warning: Sendable, Hashable, CustomStringConvertible {
        /// The offset in bytes from the start of the outermost input.
        public let offset: Int
        /// What deviates, in a few words.
        public let reason: String

        /// The reason and the offset, for display.
        public var description: String { "\(reason) at byte \(offset)" }
    }

    /// Decodes exactly one item.
    ///
    /// - Throws: `truncated`, `trailing`, `malformed`, `duplicate` (of a map key), `tooDeep` or `tooLarge`.
    public init(decoding bytes: [UInt8], _ mode: Mode = .lenient, limits: Limits = Limits()) throws(WireError) {
        var warnings: [Warning] = []
        try self.init(decoding: bytes, mode, limits: limits, warnings: &warnings)
    }

    /// Decodes exactly one item, and collects deviations from canonical form.
    public init(
        decoding bytes: [UInt8], _ mode: Mode = .lenient, limits: Limits = Limits(), warnings: inout [Warning]
    ) throws(WireError) {
        guard bytes.count <= limits.bytes else {
            throw WireError(.tooLarge, at: 0, "\(bytes.count) bytes of CBOR, at most \(limits.bytes)")
        }
        var decoder = CBORDecoder(CBORCursor(bytes), mode, limits)
        self = try decoder.value(depth: limits.depth)
        warnings += decoder.warnings
        guard decoder.cursor.isAtEnd else {
            throw WireError(
                .trailing, at: decoder.cursor.position,
                "\(decoder.cursor.remaining) bytes left over after the CBOR item")
        }
    }
}

extension ByteReader {
    /// Reads one CBOR item and leaves the bytes after it.
    public mutating func cbor(
        _ mode: CBOR.Mode = .lenient, limits: CBOR.Limits = CBOR.Limits()
    ) throws(WireError) -> CBOR {
        var decoder = CBORDecoder(cborCursor, mode, limits)
        let item = try decoder.value(depth: limits.depth)
        _ = try reader(decoder.cursor.position - offset)
        return item
    }
}

extension CBOR: CustomStringConvertible {
    /// The item in diagnostic notation (RFC 8949 §8).
    public var description: String {
        switch self {
        case .unsigned(let number): String(number)
        case .negative(.max): "-18446744073709551616"
        case .negative(let number): "-\(number + 1)"
        case .bytes(let bytes): "h'\(Hex.encode(bytes))'"
        case .text(let text): JSONValue.string(text).text
        case .array(let elements): "[" + elements.map(\.description).joined(separator: ", ") + "]"
        case .map(let map): "{" + map.entries.map { "\($0.key): \($0.value)" }.joined(separator: ", ") + "}"
        case .tagged(let tag, let item): "\(tag)(\(item))"
        case .simple(20): "false"
        case .simple(21): "true"
        case .simple(22): "null"
        case .simple(23): "undefined"
        case .simple(let value): "simple(\(value))"
        case .float(let real): real.description
        }
    }
}

extension CBOR.Real: CustomStringConvertible {
    /// The number in diagnostic notation (RFC 8949 §8).
    public var description: String {
        let value = value
        if value.isNaN { return "NaN" }
        if value.isInfinite { return value < 0 ? "-Infinity" : "Infinity" }
        return "\(value)"
    }
}
