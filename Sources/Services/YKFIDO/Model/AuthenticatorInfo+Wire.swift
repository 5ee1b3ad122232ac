// SPDX-License-Identifier: Apache-2.0

import YKProtocols
public import YKWire

extension AuthenticatorInfo {
    private typealias Key = CTAPProtocol.GetInfo.Reply

    /// Reads the answer to getInfo (CTAP 2.3 §6.4).
    public init(_ fields: CBOR.Fields) throws(WireError) {
        map = fields.map
        versions = try fields.optionalList(Key.versions, of: .text)?.map(AuthenticatorVersion.init(rawValue:)) ?? []
        extensions = try fields.optionalList(Key.extensions, of: .text) ?? []
        aaguid = try fields.required(Key.aaguid, .bytes)
        guard aaguid.count == 16 else {
            throw WireError(
                .malformed, at: fields.place(of: Key.aaguid.cbor)?.lowerBound ?? 0,
                "an AAGUID of \(aaguid.count) bytes, 16 is right")
        }
        options = try fields.optional(Key.options, .map).map(Self.options) ?? []
        let size = try fields.optional(Key.maxMsgSize, .unsigned).map { Int(clamping: $0) }
        maxMessageSize = min(max(size ?? CTAPSession.defaultMessageLimit, 64), 65536)
        pinProtocols = try fields.optionalList(Key.pinUvAuthProtocols, of: .unsigned) ?? []
        maxCredentialsInList = try fields.optional(Key.maxCredentialCountInList, .unsigned)
        maxCredentialIDLength = try fields.optional(Key.maxCredentialIdLength, .unsigned)
        transports = try fields.optionalList(Key.transports, of: .text) ?? []
        algorithms = try Self.algorithms(fields)
        maxLargeBlobArray = try fields.optional(Key.maxSerializedLargeBlobArray, .unsigned)
        mustChangePIN = try fields.optional(Key.forcePINChange, .bool) ?? false
        minPINLength = try fields.optional(Key.minPINLength, .unsigned) ?? 4
        firmwareVersion = try fields.optional(Key.firmwareVersion, .unsigned)
        maxCredentialBlobLength = try fields.optional(Key.maxCredBlobLength, .unsigned)
        maxRPIDsForMinPINLength = try fields.optional(Key.maxRPIDsForSetMinPINLength, .unsigned)
        preferredUVAttempts = try fields.optional(Key.preferredPlatformUvAttempts, .unsigned)
        uvModality = try fields.optional(Key.uvModality, .unsigned)
        certifications = try fields.optional(Key.certifications, .map)
        remainingCredentials = try fields.optional(Key.remainingDiscoverableCredentials, .unsigned)
        vendorConfigCommands = try fields.optionalList(Key.vendorPrototypeConfigCommands, of: .unsigned) ?? []
        attestationFormats =
            try fields.optionalList(Key.attestationFormats, of: .text)?.map(AttestationFormat.init(rawValue:)) ?? [
                .packed
            ]
        uvCountSincePIN = try fields.optional(Key.uvCountSinceLastPinEntry, .unsigned)
        needsLongTouchForReset = try fields.optional(Key.longTouchForReset, .bool)
        encryptedIdentifier = try fields.optional(Key.encIdentifier, .bytes)
        transportsForReset = try fields.optionalList(Key.transportsForReset, of: .text) ?? []
        hasPINComplexityPolicy = try fields.optional(Key.pinComplexityPolicy, .bool)
        pinComplexityPolicyURL = try fields.optional(Key.pinComplexityPolicyURL, .bytes)
        maxPINLength = try fields.optional(Key.maxPINLength, .unsigned) ?? 63
        encryptedStoreState = try fields.optional(Key.encCredStoreState, .bytes)
        configCommands = try fields.optionalList(Key.authenticatorConfigCommands, of: .unsigned)
    }

    /// Skips entries that are not a string with a boolean: they stay in the map only.
    private static func options(_ map: CBOR.Map) -> [(name: String, value: Bool)] {
        map.entries.compactMap { entry in
            guard let name = entry.key.text, let value = entry.value.bool else { return nil }
            return (name, value)
        }
    }

    /// Skips entries of another type than `public-key`.
    private static func algorithms(_ fields: CBOR.Fields) throws(WireError) -> [COSEAlgorithm] {
        var algorithms: [COSEAlgorithm] = []
        for entry in try fields.optionalList(Key.algorithms, of: .map) ?? [] {
            guard entry["type"]?.text == CredentialDescriptor.publicKey, let number = entry["alg"]?.int else {
                continue
            }
            algorithms.append(COSEAlgorithm(number))
        }
        return algorithms
    }
}
