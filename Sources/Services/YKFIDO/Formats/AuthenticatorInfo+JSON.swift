// SPDX-License-Identifier: Apache-2.0

import YKProtocols
package import YKWire

extension AuthenticatorInfo {
    private typealias Key = CTAPProtocol.GetInfo.Reply

    /// The names of ``members``: those of CTAP 2.3 §6.4, and `unknown`.
    package static let memberNames = Key.names + ["unknown"]

    /// The values of the reply in JSON, by their names in CTAP 2.3 §6.4: `null` for what the key does not report; members
    /// with an unknown number are under `unknown`.
    package var members: [(name: String, value: JSONValue)] {
        var unknown = JSONValue.Object()
        for entry in map.entries where !Key.allCases.contains(where: { entry.key == $0.cbor }) {
            unknown[entry.key.keyText] = JSONValue(entry.value)
        }
        return zip(Key.allCases, Key.names).map { ($1, value(of: $0)) } + [("unknown", .object(unknown))]
    }

    private func value(of key: Key) -> JSONValue {
        switch key {
        case .aaguid: .string(Hex.uuid(aaguid))
        case .algorithms:
            .array(algorithms.map { ["alg": .int($0.rawValue), "name": .string($0.description)] })
        case .pinComplexityPolicyURL:
            pinComplexityPolicyURL.flatMap { String(validating: $0, as: UTF8.self) }.map(JSONValue.string) ?? .null
        default: map[key].map(JSONValue.init) ?? .null
        }
    }
}

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
