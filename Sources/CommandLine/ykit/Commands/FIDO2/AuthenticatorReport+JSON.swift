// SPDX-License-Identifier: Apache-2.0

import YKFIDO
import YKKeys
import YKWire

extension AuthenticatorReport {
    /// The members of getInfo by key number, with their names in CTAP 2.3 §6.4.
    private static let fields: [(key: UInt64, name: String)] = [
        (0x01, "versions"), (0x02, "extensions"), (0x03, "aaguid"), (0x04, "options"), (0x05, "maxMsgSize"),
        (0x06, "pinUvAuthProtocols"), (0x07, "maxCredentialCountInList"), (0x08, "maxCredentialIdLength"),
        (0x09, "transports"), (0x0A, "algorithms"), (0x0B, "maxSerializedLargeBlobArray"), (0x0C, "forcePINChange"),
        (0x0D, "minPINLength"), (0x0E, "firmwareVersion"), (0x0F, "maxCredBlobLength"),
        (0x10, "maxRPIDsForSetMinPINLength"), (0x11, "preferredPlatformUvAttempts"), (0x12, "uvModality"),
        (0x13, "certifications"), (0x14, "remainingDiscoverableCredentials"),
        (0x15, "vendorPrototypeConfigCommands"), (0x16, "attestationFormats"), (0x17, "uvCountSinceLastPinEntry"),
        (0x18, "longTouchForReset"), (0x19, "encIdentifier"), (0x1A, "transportsForReset"),
        (0x1B, "pinComplexityPolicy"), (0x1C, "pinComplexityPolicyURL"), (0x1D, "maxPINLength"),
        (0x1E, "encCredStoreState"), (0x1F, "authenticatorConfigCommands"),
    ]

    /// The names of the members, and `unknown` for members without a name.
    static let names = fields.map(\.name) + ["unknown"]

    /// The values of the key by name; members with an unknown number are under `unknown`.
    var members: [(String, JSON)] {
        var members = Self.fields.map { ($0.name, value(of: $0.key)) }
        var unknown = JSON.Object()
        for entry in info.map.entries where !Self.fields.contains(where: { entry.key == .unsigned($0.key) }) {
            unknown[entry.key.keyText] = JSON(entry.value)
        }
        members.append(("unknown", .object(unknown)))
        members.append(("pinRetries", pin.map { .int(Int64($0.count)) } ?? .null))
        members.append(("uvRetries", uv.map { .int(Int64($0)) } ?? .null))
        return members
    }

    private func value(of key: UInt64) -> JSON {
        switch key {
        case 0x03: return .string(Self.uuid(info.aaguid))
        case 0x0A:
            return .array(
                info.algorithms.map { ["alg": .int($0.rawValue), "name": .string($0.description)] })
        case 0x1C:
            let text = info.pinComplexityPolicyURL.flatMap { String(validating: $0, as: UTF8.self) }
            return text.map(JSON.string) ?? .null
        default: return info.map[.unsigned(key)].map(JSON.init) ?? .null
        }
    }
}
