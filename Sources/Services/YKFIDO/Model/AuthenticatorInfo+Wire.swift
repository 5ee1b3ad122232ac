// SPDX-License-Identifier: Apache-2.0

import YKProtocols
public import YKWire

extension AuthenticatorInfo {
    private typealias Key = CTAPProtocol.GetInfo.Reply

    /// Reads the answer to getInfo (CTAP 2.3 §6.4). A member of the wrong type is treated as absent, and named in
    /// ``malformedMembers``; a limit of zero, which would exclude everything, is treated as absent too.
    ///
    /// - Throws: `missing` if there is neither a version nor an AAGUID: then this is not a response to getInfo.
    public init(_ fields: CBOR.Fields) throws(WireError) {
        if fields.map[Key.versions] == nil { _ = try fields.required(Key.aaguid, .any) }
        var members = Members(fields)
        map = fields.map
        versions = members.list(Key.versions, of: .text)?.map(AuthenticatorVersion.init(rawValue:)) ?? []
        extensions = members.list(Key.extensions, of: .text) ?? []
        aaguid = members.model()
        options = members.value(Key.options, .map).map(Self.options) ?? []
        let size = members.limit(Key.maxMsgSize).map { Int(clamping: $0) }
        maxMessageSize = min(max(size ?? CTAPSession.defaultMessageLimit, 64), 65536)
        pinProtocols = members.list(Key.pinUvAuthProtocols, of: .unsigned) ?? []
        maxCredentialsInList = members.limit(Key.maxCredentialCountInList)
        maxCredentialIDLength = members.limit(Key.maxCredentialIdLength)
        transports = members.list(Key.transports, of: .text) ?? []
        algorithms = Self.algorithms(members.list(Key.algorithms, of: .map) ?? [])
        maxLargeBlobArray = members.limit(Key.maxSerializedLargeBlobArray)
        mustChangePIN = members.value(Key.forcePINChange, .bool) ?? false
        minPINLength = members.limit(Key.minPINLength) ?? 4
        firmwareVersion = members.value(Key.firmwareVersion, .unsigned)
        maxCredentialBlobLength = members.value(Key.maxCredBlobLength, .unsigned)
        maxRPIDsForMinPINLength = members.value(Key.maxRPIDsForSetMinPINLength, .unsigned)
        preferredUVAttempts = members.value(Key.preferredPlatformUvAttempts, .unsigned)
        uvModality = members.value(Key.uvModality, .unsigned)
        certifications = members.value(Key.certifications, .map)
        remainingCredentials = members.value(Key.remainingDiscoverableCredentials, .unsigned)
        vendorConfigCommands = members.list(Key.vendorPrototypeConfigCommands, of: .unsigned) ?? []
        attestationFormats =
            members.list(Key.attestationFormats, of: .text)?.map(AttestationFormat.init(rawValue:)) ?? [.packed]
        uvCountSincePIN = members.value(Key.uvCountSinceLastPinEntry, .unsigned)
        needsLongTouchForReset = members.value(Key.longTouchForReset, .bool)
        encryptedIdentifier = members.value(Key.encIdentifier, .bytes)
        transportsForReset = members.list(Key.transportsForReset, of: .text) ?? []
        hasPINComplexityPolicy = members.value(Key.pinComplexityPolicy, .bool)
        pinComplexityPolicyURL = members.value(Key.pinComplexityPolicyURL, .bytes)
        maxPINLength = members.limit(Key.maxPINLength) ?? 63
        encryptedStoreState = members.value(Key.encCredStoreState, .bytes)
        configCommands = members.list(Key.authenticatorConfigCommands, of: .unsigned)
        malformedMembers = members.malformed
    }

    /// Reads members, and collects the names of malformed ones.
    private struct Members {
        let fields: CBOR.Fields
        private(set) var malformed: [String] = []

        init(_ fields: CBOR.Fields) { self.fields = fields }

        mutating func value<Value>(_ key: Key, _ kind: CBOR.Kind<Value>) -> Value? {
            do { return try fields.optional(key, kind) } catch { return noting(key) }
        }

        mutating func list<Value>(_ key: Key, of kind: CBOR.Kind<Value>) -> [Value]? {
            do { return try fields.optionalList(key, of: kind) } catch { return noting(key) }
        }

        /// A nonzero size or length.
        mutating func limit(_ key: Key) -> UInt64? { value(key, .unsigned).flatMap { $0 == 0 ? nil : $0 } }

        /// The AAGUID; zero if it is missing.
        mutating func model() -> [UInt8] {
            if let bytes = value(.aaguid, .bytes), bytes.count == 16 { return bytes }
            if !malformed.contains(Key.aaguid.name) { malformed.append(Key.aaguid.name) }
            return [UInt8](repeating: 0, count: 16)
        }

        private mutating func noting<Value>(_ key: Key) -> Value? {
            malformed.append(key.name)
            return nil
        }
    }

    /// Skips entries that are not a string with a boolean; they remain only in the map.
    private static func options(_ map: CBOR.Map) -> [(name: String, value: Bool)] {
        map.entries.compactMap { entry in
            guard let name = entry.key.text, let value = entry.value.bool else { return nil }
            return (name, value)
        }
    }

    /// Skips entries whose type is not `public-key`.
    private static func algorithms(_ entries: [CBOR.Map]) -> [COSEAlgorithm] {
        entries.compactMap { entry in
            guard entry["type"]?.text == CredentialDescriptor.publicKey else { return nil }
            return entry["alg"]?.int.map(COSEAlgorithm.init(rawValue:))
        }
    }
}
