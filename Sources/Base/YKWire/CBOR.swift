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

        init(bits: UInt64, width: Int) {
            self.bits = bits
            self.width = width
        }

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
