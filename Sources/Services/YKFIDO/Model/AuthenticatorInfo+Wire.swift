// SPDX-License-Identifier: Apache-2.0

public import YKWire

extension AuthenticatorInfo {
    /// Reads the answer to getInfo (CTAP 2.3 §6.4).
    public init(_ fields: CBOR.Fields) throws(WireError) {
        map = fields.map
        versions = try fields.optionalList(1, of: .text)?.map(AuthenticatorVersion.init(rawValue:)) ?? []
        extensions = try fields.optionalList(2, of: .text) ?? []
        aaguid = try fields.required(3, .bytes)
        guard aaguid.count == 16 else {
            throw WireError(
                .malformed, at: fields.place(of: 3)?.lowerBound ?? 0, "an AAGUID of \(aaguid.count) bytes, 16 is right")
        }
        options = try fields.optional(4, .map).map(Self.options) ?? []
        let size = try fields.optional(5, .unsigned).map { Int(clamping: $0) }
        maxMessageSize = min(max(size ?? CTAPSession.defaultMessageLimit, 64), 65536)
        pinProtocols = try fields.optionalList(6, of: .unsigned) ?? []
        maxCredentialsInList = try fields.optional(7, .unsigned)
        maxCredentialIDLength = try fields.optional(8, .unsigned)
        transports = try fields.optionalList(9, of: .text) ?? []
        algorithms = try Self.algorithms(fields)
        maxLargeBlobArray = try fields.optional(11, .unsigned)
        mustChangePIN = try fields.optional(12, .bool) ?? false
        minPINLength = try fields.optional(13, .unsigned) ?? 4
        firmwareVersion = try fields.optional(14, .unsigned)
        maxCredentialBlobLength = try fields.optional(15, .unsigned)
        maxRPIDsForMinPINLength = try fields.optional(16, .unsigned)
        preferredUVAttempts = try fields.optional(17, .unsigned)
        uvModality = try fields.optional(18, .unsigned)
        certifications = try fields.optional(19, .map)
        remainingCredentials = try fields.optional(20, .unsigned)
        vendorConfigCommands = try fields.optionalList(21, of: .unsigned) ?? []
        attestationFormats =
            try fields.optionalList(22, of: .text)?.map(AttestationFormat.init(rawValue:)) ?? [.packed]
        uvCountSincePIN = try fields.optional(23, .unsigned)
        needsLongTouchForReset = try fields.optional(24, .bool)
        encryptedIdentifier = try fields.optional(25, .bytes)
        transportsForReset = try fields.optionalList(26, of: .text) ?? []
        hasPINComplexityPolicy = try fields.optional(27, .bool)
        pinComplexityPolicyURL = try fields.optional(28, .bytes)
        maxPINLength = try fields.optional(29, .unsigned) ?? 63
        encryptedStoreState = try fields.optional(30, .bytes)
        configCommands = try fields.optionalList(31, of: .unsigned)
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
        for entry in try fields.optionalList(10, of: .map) ?? [] {
            guard entry["type"]?.text == CredentialDescriptor.publicKey, let number = entry["alg"]?.int else {
                continue
            }
            algorithms.append(COSEAlgorithm(number))
        }
        return algorithms
    }
}
