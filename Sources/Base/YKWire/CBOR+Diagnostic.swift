// SPDX-License-Identifier: Apache-2.0

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
