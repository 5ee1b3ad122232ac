// SPDX-License-Identifier: Apache-2.0

import YKCrypto
import YKWire

/// The persistent state of the FIDO application.
package struct FIDOMemory: Hashable, Sendable {
    /// 32 random bytes, drawn at first use and again at each reset; the keys of non-discoverable credentials are
    /// derived from them.
    package var seed: [UInt8] = []
    /// The private scalar of the attestation key, drawn once at first use.
    var attestationKey: [UInt8] = []
    /// The attestation certificate, DER; empty until first needed.
    package var certificate: [UInt8] = []
    /// The private scalar of the authority that signed it; empty when the certificate is self-signed.
    var authorityKey: [UInt8] = []
    /// The authority's certificate, DER.
    package var authority: [UInt8] = []
    /// The signature counter.
    package var counter: UInt32 = 0
    /// The first 16 bytes of the PIN's SHA-256.
    package var pinHash: [UInt8]?
    /// The number of code points in the PIN.
    var pinLength: UInt64 = 0
    /// The number of PIN retries left.
    package var pinRetries = FIDOMemory.allRetries
    /// The minimum PIN length, in code points.
    package var minPINLength: UInt64 = 4
    /// Whether new PINs must satisfy the complexity policy (setMinPINLength, parameter 4); only a reset clears it.
    package var requiresComplexPIN = false
    /// Relying parties that may read the minimum PIN length.
    var minPINReaders: [String] = []
    /// Whether the PIN must be changed.
    package var mustChangePIN = false
    /// Whether user verification is always required.
    var alwaysUV = false
    /// Whether enterprise attestation is enabled.
    package var enterpriseAttestation = false
    /// Whether a reset requires a long touch (authenticatorConfig, subcommand 4); only a reset clears it.
    var needsLongTouch = false
    /// The discoverable credentials, oldest first.
    package var credentials: [VirtualCredential] = []
    /// Non-discoverable credentials whose key does not fit in an identifier: RSA.
    package var hidden: [VirtualCredential] = []
    /// The array of large blobs with its checksum.
    package var largeBlobs = FIDOMemory.noLargeBlobs
    /// The enrolled fingerprints.
    package var fingerprints: [VirtualFingerprint] = []
    /// The number of fingerprint retries left.
    var verificationsLeft = FIDOMemory.allVerifications
    /// 16 random bytes that identify this key until it is reset; drawn at first use (CTAP 2.3).
    package var identifier: [UInt8] = []
    /// The persistent token for reading the list of credentials; drawn at first use (CTAP 2.3).
    package var persistentToken: [UInt8] = []

    /// The U2F PIN of a YubiKey 4 FIPS.
    package var u2fPIN: [UInt8]?
    /// The number of U2F PIN retries left.
    var u2fRetries = FIDOMemory.allU2FRetries
    /// Whether U2F was reset on a YubiKey 4 FIPS, which then leaves FIPS mode permanently.
    var hasLeftFIPSMode = false
    /// Whether U2F of a YubiKey 4 FIPS is in FIPS mode.
    var isInU2FFIPSMode: Bool { u2fPIN != nil && !hasLeftFIPSMode }

    /// The number of U2F PIN retries of a fresh key.
    static let allU2FRetries = 3
    /// The length of a U2F PIN, in bytes.
    static let u2fPINLengths = 6...32
    /// The number of PIN retries of a fresh key.
    static let allRetries = 8
    /// The number of fingerprint retries before the PIN is required.
    static let allVerifications = 3
    /// The maximum size of the large-blob array, in bytes.
    static let largeBlobLimit = 4096
    /// An empty large-blob array with its checksum (CTAP 2.2 §6.10.1).
    static let noLargeBlobs: [UInt8] = [
        0x80, 0x76, 0xBE, 0x8B, 0x52, 0x8D, 0x00, 0x75, 0xF7, 0xAA, 0xE9, 0x8D, 0x6F, 0xA5, 0x7A, 0x6D, 0x3C,
    ]

    package init() {}

    /// Draws the random values that are created on first use.
    mutating func prepare(_ inputs: VirtualInputs, _ profile: DeviceProfile) throws(Refusal) {
        if seed.isEmpty { seed = try inputs.draw(32) }
        if profile.fido.version >= .v23 {
            if persistentToken.isEmpty { persistentToken = try inputs.draw(32) }
            if identifier.isEmpty { identifier = try inputs.draw(16) }
        }
        guard certificate.isEmpty else { return }
        attestationKey = try inputs.draw(32)
        authorityKey = HashAlgorithm.sha256.hash(attestationKey + (try inputs.draw(32)))
        do {
            let key = try PrivateKey(.p256, scalar: Secret(authorityKey))
            authority = try AttestationAuthority(key: key).root(serial: Array(seed.suffix(8)))
            certificate = try certificate(profile, device: nil)
        } catch { throw .status(.memoryFailure) }
    }

    /// A certificate for the attestation key: for the batch, or for this key alone.
    func certificate(_ profile: DeviceProfile, device: UInt32?) throws(CryptoFault) -> [UInt8] {
        let number = device.map { HashAlgorithm.sha256.hash("\($0)".utf8) } ?? seed
        return try AttestationAuthority(key: try PrivateKey(.p256, scalar: Secret(authorityKey))).leaf(
            for: try PrivateKey(.p256, scalar: Secret(attestationKey)), serial: Array(number.prefix(8)),
            aaguid: profile.model.aaguid, transports: profile.attestedTransports, device: device)
    }

    /// The memory after a reset, which keeps the attestation.
    var afterReset: FIDOMemory {
        var fresh = FIDOMemory()
        fresh.attestationKey = attestationKey
        fresh.certificate = certificate
        fresh.authorityKey = authorityKey
        fresh.authority = authority
        fresh.hasLeftFIPSMode = hasLeftFIPSMode
        return fresh
    }
}

extension FIDOMemory: StateRecord {
    package mutating func visit(_ fields: inout StateFields) throws(StateFields.Fault) {
        try fields("seed", &seed, .bytes)
        try fields("attestationKey", &attestationKey, .bytes)
        try fields("certificate", &certificate, .bytes)
        if fields.has("authorityKey", writing: !authority.isEmpty) {
            try fields("authorityKey", &authorityKey, .bytes)
            try fields("authority", &authority, .bytes)
        }
        try fields("counter", &counter, .number(0...UInt32.max))
        try fields("pinHash", &pinHash, .bytes)
        if pinHash != nil { try fields("pinLength", &pinLength, .number(0...63)) }
        try fields("pinRetries", &pinRetries, .number(0...Self.allRetries))
        try fields("minPINLength", &minPINLength, .number(4...63))
        try fields("minPINReaders", &minPINReaders, .list(.text))
        try fields.flag("requiresComplexPIN", &requiresComplexPIN)
        try fields.flag("mustChangePIN", &mustChangePIN)
        try fields.flag("alwaysUV", &alwaysUV)
        try fields.flag("enterpriseAttestation", &enterpriseAttestation)
        try fields.flag("needsLongTouch", &needsLongTouch)
        try fields("credentials", &credentials, .list(.record))
        try fields("hidden", &hidden, .list(.record), unless: [])
        try fields("largeBlobs", &largeBlobs, .bytes)
        try fields("fingerprints", &fingerprints, .list(.record), unless: [])
        try fields(
            "verificationsLeft", &verificationsLeft, .number(0...Self.allVerifications), unless: Self.allVerifications)
        try fields("u2fPIN", &u2fPIN, .bytes(Self.u2fPINLengths))
        try fields("u2fRetries", &u2fRetries, .number(0...Self.allU2FRetries), unless: Self.allU2FRetries)
        try fields.flag("hasLeftFIPSMode", &hasLeftFIPSMode)
        try fields("identifier", &identifier, .bytes, unless: [])
        try fields("persistentToken", &persistentToken, .bytes, unless: [])
    }
}

extension VirtualCredential: StateRecord {
    package init() { self.init(id: [], rpID: "", algorithm: .es256, secret: []) }

    package mutating func visit(_ fields: inout StateFields) throws(StateFields.Fault) {
        try fields("id", &id, .bytes)
        try fields("rp", &rpID, .text)
        try fields("user", &userID, .bytes)
        try fields("name", &userName, .text)
        try fields("displayName", &displayName, .text)
        try fields("algorithm", &algorithm, .choice(FIDOAuthenticator.algorithms.map { ($0.description, $0) }))
        try fields("secret", &secret, .bytes(32...32))
        try fields("privateKey", &privateKey, .bytes)
        try fields("protection", &protection, .number(1...3))
        try fields("blob", &blob, .bytes)
        try fields("largeBlobKey", &largeBlobKey, .bytes)
        if fields.has("directBlob", writing: directBlob != nil) {
            var stored = directBlob ?? DirectBlob()
            try fields("directBlob", &stored.bytes, .bytes)
            try fields("directBlobSize", &stored.size, .number(0...UInt64(Int64.max)))
            directBlob = stored
        }
        try fields.flag("payment", &allowsPayment)
    }
}

extension VirtualFingerprint: StateRecord {
    package init() { self.init(id: [], name: "") }

    package mutating func visit(_ fields: inout StateFields) throws(StateFields.Fault) {
        try fields("id", &id, .bytes)
        try fields("name", &name, .text)
    }
}
