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

extension FIDOMemory {
    /// The memory as stored in the state file; `nil` if the application was never used.
    var json: JSONValue? {
        guard self != FIDOMemory() else { return nil }
        var object = JSONValue.Object()
        object["seed"] = .string(Hex.encode(seed))
        object["attestationKey"] = .string(Hex.encode(attestationKey))
        object["certificate"] = .string(Hex.encode(certificate))
        if !authority.isEmpty {
            object["authorityKey"] = .string(Hex.encode(authorityKey))
            object["authority"] = .string(Hex.encode(authority))
        }
        object["counter"] = .int(Int64(counter))
        object["pinHash"] = pinHash.map { .string(Hex.encode($0)) }
        if pinHash != nil { object["pinLength"] = .int(Int64(clamping: pinLength)) }
        object["pinRetries"] = .int(Int64(pinRetries))
        object["minPINLength"] = .int(Int64(clamping: minPINLength))
        object["minPINReaders"] = .array(minPINReaders.map(JSONValue.string))
        if requiresComplexPIN { object["requiresComplexPIN"] = true }
        if mustChangePIN { object["mustChangePIN"] = true }
        if alwaysUV { object["alwaysUV"] = true }
        if enterpriseAttestation { object["enterpriseAttestation"] = true }
        if needsLongTouch { object["needsLongTouch"] = true }
        object["credentials"] = .array(credentials.map(\.json))
        if !hidden.isEmpty { object["hidden"] = .array(hidden.map(\.json)) }
        object["largeBlobs"] = .string(Hex.encode(largeBlobs))
        if !fingerprints.isEmpty { object["fingerprints"] = .array(fingerprints.map(\.json)) }
        if verificationsLeft != Self.allVerifications { object["verificationsLeft"] = .int(Int64(verificationsLeft)) }
        object["u2fPIN"] = u2fPIN.map { .string(Hex.encode($0)) }
        if u2fRetries != Self.allU2FRetries { object["u2fRetries"] = .int(Int64(u2fRetries)) }
        if hasLeftFIPSMode { object["hasLeftFIPSMode"] = true }
        if !identifier.isEmpty { object["identifier"] = .string(Hex.encode(identifier)) }
        if !persistentToken.isEmpty { object["persistentToken"] = .string(Hex.encode(persistentToken)) }
        return .object(object)
    }

    /// Parses the memory in a state file.
    init(_ fields: StateFields) throws(StateFields.Fault) {
        var fields = fields
        self.init()
        seed = try fields.bytes("seed")
        attestationKey = try fields.bytes("attestationKey")
        certificate = try fields.bytes("certificate")
        if fields.has("authorityKey") {
            authorityKey = try fields.bytes("authorityKey")
            authority = try fields.bytes("authority")
        }
        counter = try fields.number("counter", 0...UInt32.max)
        if fields.has("pinHash") {
            pinHash = try fields.bytes("pinHash")
            pinLength = try fields.number("pinLength", 0...63)
        }
        pinRetries = try fields.number("pinRetries", 0...Self.allRetries)
        minPINLength = try fields.number("minPINLength", 4...63)
        minPINReaders = try fields.texts("minPINReaders")
        requiresComplexPIN = try fields.flag("requiresComplexPIN")
        mustChangePIN = try fields.flag("mustChangePIN")
        alwaysUV = try fields.flag("alwaysUV")
        enterpriseAttestation = try fields.flag("enterpriseAttestation")
        needsLongTouch = try fields.flag("needsLongTouch")
        for entry in try fields.list("credentials") { credentials.append(try VirtualCredential(entry)) }
        if fields.has("hidden") {
            for entry in try fields.list("hidden") { hidden.append(try VirtualCredential(entry)) }
        }
        largeBlobs = try fields.bytes("largeBlobs")
        if fields.has("fingerprints") {
            for entry in try fields.list("fingerprints") { fingerprints.append(try VirtualFingerprint(entry)) }
        }
        if fields.has("verificationsLeft") {
            verificationsLeft = try fields.number("verificationsLeft", 0...Self.allVerifications)
        }
        if fields.has("u2fPIN") {
            let pin = try fields.bytes("u2fPIN")
            guard Self.u2fPINLengths.contains(pin.count) else { throw fields.fault("u2fPIN", "expected 6 to 32 bytes") }
            u2fPIN = pin
        }
        if fields.has("u2fRetries") { u2fRetries = try fields.number("u2fRetries", 0...Self.allU2FRetries) }
        hasLeftFIPSMode = try fields.flag("hasLeftFIPSMode")
        if fields.has("identifier") { identifier = try fields.bytes("identifier") }
        if fields.has("persistentToken") { persistentToken = try fields.bytes("persistentToken") }
        try fields.finish()
    }
}

extension VirtualCredential {
    private static let algorithms: [(String, COSEAlgorithm)] = FIDOAuthenticator.algorithms.map { ($0.description, $0) }

    /// The credential as stored in the state file.
    fileprivate var json: JSONValue {
        var object = JSONValue.Object()
        object["id"] = .string(Hex.encode(id))
        object["rp"] = .string(rpID)
        object["user"] = .string(Hex.encode(userID))
        object["name"] = userName.map(JSONValue.string)
        object["displayName"] = displayName.map(JSONValue.string)
        object["algorithm"] = .string(algorithm.description)
        object["secret"] = .string(Hex.encode(secret))
        object["privateKey"] = privateKey.map { .string(Hex.encode($0)) }
        object["protection"] = .int(Int64(clamping: protection))
        object["blob"] = blob.map { .string(Hex.encode($0)) }
        object["largeBlobKey"] = largeBlobKey.map { .string(Hex.encode($0)) }
        if let directBlob {
            object["directBlob"] = .string(Hex.encode(directBlob.bytes))
            object["directBlobSize"] = .int(Int64(clamping: directBlob.size))
        }
        if allowsPayment { object["payment"] = true }
        return .object(object)
    }

    /// Parses a credential in a state file.
    fileprivate init(_ fields: StateFields) throws(StateFields.Fault) {
        var fields = fields
        self.init(
            id: try fields.bytes("id"), rpID: try fields.text("rp"),
            algorithm: try fields.choice("algorithm", Self.algorithms), secret: try fields.bytes("secret"))
        guard secret.count == 32 else { throw fields.fault("secret", "expected 32 bytes") }
        if fields.has("privateKey") { privateKey = try fields.bytes("privateKey") }
        userID = try fields.bytes("user")
        if fields.has("name") { userName = try fields.text("name") }
        if fields.has("displayName") { displayName = try fields.text("displayName") }
        protection = try fields.number("protection", 1...3)
        if fields.has("blob") { blob = try fields.bytes("blob") }
        if fields.has("largeBlobKey") { largeBlobKey = try fields.bytes("largeBlobKey") }
        if fields.has("directBlob") {
            directBlob = DirectBlob(
                bytes: try fields.bytes("directBlob"), size: try fields.number("directBlobSize", 0...UInt64(Int64.max)))
        }
        allowsPayment = try fields.flag("payment")
        try fields.finish()
    }
}

extension VirtualFingerprint {
    fileprivate var json: JSONValue { ["id": .string(Hex.encode(id)), "name": .string(name)] }

    fileprivate init(_ fields: StateFields) throws(StateFields.Fault) {
        var fields = fields
        self.init(id: try fields.bytes("id"), name: try fields.text("name"))
        try fields.finish()
    }
}
