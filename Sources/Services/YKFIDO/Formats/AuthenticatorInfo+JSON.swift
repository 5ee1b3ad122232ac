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
