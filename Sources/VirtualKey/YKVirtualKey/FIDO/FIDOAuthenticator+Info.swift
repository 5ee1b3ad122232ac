// SPDX-License-Identifier: Apache-2.0

import YKCrypto
import YKProtocols
import YKTransport
import YKWire

extension FIDOAuthenticator {
    private typealias Key = CTAPProtocol.GetInfo.Reply

    /// getInfo, with the contents for the key's CTAP version (CTAP 2.3 §6.4).
    mutating func info() throws(Refusal) -> CBOR {
        var map = CBOR.Map(keys: [
            Key.versions: .array(versions.map(CBOR.text)), Key.extensions: .array(extensions.map(CBOR.text)),
            Key.aaguid: .bytes(aaguid),
            Key.options: .map(options), Key.maxMsgSize: .int(Int64(Self.messageLimit)),
            Key.pinUvAuthProtocols: .array(profile.pinProtocols.map(CBOR.unsigned)),
        ])
        guard ctap >= .v21Pre else { return .map(map) }
        map[Key.maxCredentialCountInList] = 8
        map[Key.maxCredentialIdLength] = 128
        map[Key.transports] = profile.transports
        map[Key.algorithms] = .array(
            profile.fidoAlgorithms.map { ["alg": .int($0.rawValue), "type": "public-key"] })
        if profile.version >= FirmwareVersion(5, 4, 0) {
            map[Key.firmwareVersion] = .unsigned(profile.version.bytes.reduce(0) { $0 << 8 | UInt64($1) })
        }
        guard ctap >= .v21 else { return .map(map) }
        if !hasDirectLargeBlobs { map[Key.maxSerializedLargeBlobArray] = .int(Int64(FIDOMemory.largeBlobLimit)) }
        map[Key.forcePINChange] = .bool(memory.mustChangePIN)
        map[Key.minPINLength] = .unsigned(minPINLength)
        map[Key.maxCredBlobLength] = 32
        map[Key.maxRPIDsForSetMinPINLength] = 4
        if features.hasFingerprints {
            map[Key.preferredPlatformUvAttempts] = .int(Int64(FIDOMemory.allVerifications))
            map[Key.uvModality] = 2
        }
        map[Key.remainingDiscoverableCredentials] = .int(
            Int64(max(0, profile.credentialLimit - memory.credentials.count)))
        map[Key.attestationFormats] = .array(profile.attestationFormats.map(CBOR.text))
        if ctap >= .v23 { try addLatest(&map) }
        return .map(map)
    }

    /// Adds the members new in CTAP 2.2 and 2.3.
    private mutating func addLatest(_ map: inout CBOR.Map) throws(Refusal) {
        try memory.prepare(inputs, profile)
        map[Key.longTouchForReset] = .bool(profile.isFirmware58 || memory.needsLongTouch)
        map[Key.encIdentifier] = .bytes(try sealed(memory.identifier, "encIdentifier"))
        map[Key.transportsForReset] = profile.transports
        map[Key.pinComplexityPolicy] = .bool(requiresComplexPIN)
        map[Key.maxPINLength] = 63
        map[Key.encCredStoreState] = .bytes(try sealed(storeState, "encCredStoreState"))
        map[Key.authenticatorConfigCommands] = features.canRequireLongTouch ? [1, 2, 3, 4] : [1, 2, 3]
    }

    /// A value that changes whenever a credential is added or deleted.
    private var storeState: [UInt8] {
        Array(HashAlgorithm.sha256.hash(memory.seed + memory.credentials.flatMap(\.id)).prefix(16))
    }

    /// Encrypts bytes for holders of the persistent token (CTAP 2.3 §6.4.5).
    private func sealed(_ bytes: [UInt8], _ purpose: String) throws(Refusal) -> [UInt8] {
        let vector = try inputs.draw(16)
        do {
            let zeros = [UInt8](repeating: 0, count: 32)
            let key = try HashAlgorithm.sha256.hkdf(
                Secret(memory.persistentToken), salt: zeros, info: Array(purpose.utf8), length: 16)
            return vector + (try AESCBC.encrypt(bytes, key: key, initialisationVector: vector))
        } catch { throw .ctap(Status.other) }
    }

    /// All credential algorithms, most preferred first; which ones a key has depends on its firmware.
    static let algorithms: [COSEAlgorithm] = [.es256, .edDSA, .es384, .es512, .rs256]

    private var versions: [String] {
        let preview = profile.keepsPreview ? ["FIDO_2_1_PRE"] : []
        let own =
            switch ctap {
            case .v20: ["FIDO_2_0"]
            case .v21Pre: ["FIDO_2_0", "FIDO_2_1_PRE"]
            case .v21: ["FIDO_2_0"] + preview + ["FIDO_2_1"]
            case .v23: ["FIDO_2_0"] + preview + ["FIDO_2_1", "FIDO_2_3"]
            }
        // A key that always verifies the user has no U2F (CTAP 2.2 §7.2).
        return profile.model.hasU2F && !memory.alwaysUV ? ["U2F_V2"] + own : own
    }

    var extensions: [String] {
        switch ctap {
        case .v20: ["hmac-secret"]
        case .v21Pre: ["credProtect", "hmac-secret"]
        case .v21: ["credBlob", "credProtect", "hmac-secret", "largeBlobKey", "minPinLength"]
        case .v23:
            [
                "credBlob", "credProtect", "hmac-secret", "hmac-secret-mc",
                hasDirectLargeBlobs ? "largeBlob" : "largeBlobKey", "minPinLength", "pinComplexityPolicy",
            ] + (profile.hasPreviewSign ? ["previewSign"] : []) + ["thirdPartyPayment"]
        }
    }

    private var options: CBOR.Map {
        var options: CBOR.Map = ["rk": true, "up": true, "plat": false, "clientPin": .bool(memory.pinHash != nil)]
        if features.hasFingerprints { options["uv"] = .bool(!memory.fingerprints.isEmpty) }
        guard ctap >= .v21Pre else { return options }
        if ctap == .v21Pre || profile.keepsPreview {
            options["credentialMgmtPreview"] = true
            if features.hasFingerprints { options["userVerificationMgmtPreview"] = .bool(!memory.fingerprints.isEmpty) }
        }
        guard ctap >= .v21 else { return options }
        for name in ["credMgmt", "authnrCfg", "largeBlobs", "pinUvAuthToken", "setMinPINLength"]
        where name != "largeBlobs" || !hasDirectLargeBlobs {
            options[.text(name)] = true
        }
        options["makeCredUvNotRqd"] = .bool(!memory.alwaysUV && features.registersWithoutVerification)
        options["alwaysUv"] = .bool(memory.alwaysUV)
        options["ep"] = .bool(memory.enterpriseAttestation)
        if features.hasFingerprints { options["bioEnroll"] = .bool(!memory.fingerprints.isEmpty) }
        if features.needsFingerprintForCeremonies { options["noMcGaPermissionsWithClientPin"] = true }
        if ctap >= .v23 { options["perCredMgmtRO"] = true }
        return options
    }
}
