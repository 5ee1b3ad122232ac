// SPDX-License-Identifier: Apache-2.0

import YKWire

extension JSONValue {
    /// Converts a CBOR item to JSON: bytes become base64url, map keys become text, and so do values without a JSON
    /// counterpart.
    init(_ item: CBOR) {
        switch item {
        case .unsigned(let number): self = Int64(exactly: number).map(JSONValue.int) ?? .string(String(number))
        case .negative: self = item.int.map(JSONValue.int) ?? .string("\(item)")
        case .bytes(let bytes): self = .string(Base64.encodeURL(bytes))
        case .text(let text): self = .string(text)
        case .array(let items): self = .array(items.map(JSONValue.init))
        case .map(let map):
            var object = JSONValue.Object()
            for entry in map.entries { object[entry.key.keyText] = JSONValue(entry.value) }
            self = .object(object)
        case .tagged(_, let inner): self = JSONValue(inner)
        case .simple: self = item.bool.map(JSONValue.bool) ?? .null
        case .float(let real): self = .double(real.value)
        }
    }
}

extension CBOR {
    /// The item as a key of a JSON object.
    var keyText: String {
        switch self {
        case .text(let text): text
        case .unsigned(let number): String(number)
        case .bytes(let bytes): Base64.encodeURL(bytes)
        default: int.map { String($0) } ?? "\(self)"
        }
    }
}
