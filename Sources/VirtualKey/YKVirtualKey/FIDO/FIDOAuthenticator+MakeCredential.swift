// SPDX-License-Identifier: Apache-2.0

import YKCrypto
import YKProtocols
import YKWire

/// The parameters of makeCredential.
struct CreationInput {
    private typealias Key = CTAPProtocol.MakeCredential.Request

    let clientDataHash: [UInt8]
    let rpID: String
    let userID: [UInt8]
    let userName: String?
    let displayName: String?
    let algorithms: [Int64]
    let excluded: [[UInt8]]
    var extensions: CBOR.Map
    let options: RequestOptions
    let proof: [UInt8]?
    /// The requested kind of enterprise attestation: 1 vendor-facilitated, 2 platform-managed.
    let enterprise: UInt64?
    let formats: [String]
    /// The input of hmac-secret-mc.
    var salts: SaltInput?
    /// The policy of the key requested with previewSign.
    var signingPolicy: SigningPolicy?

    init(_ fields: CBOR.Fields) throws(WireError) {
        clientDataHash = try fields.required(Key.clientDataHash, .bytes)
        let rp = try fields.required(Key.rp, .map)
        let user = try fields.required(Key.user, .map)
        rpID = try rp.needed("id", \.text)
        userID = try user.needed("id", \.bytes)
        userName = try user.member("name", \.text)
        displayName = try user.member("displayName", \.text)
        _ = try rp.member("name", \.text)
        algorithms = try Self.algorithms(try fields.required(Key.pubKeyCredParams, .array))
        excluded = try fields.optionalList(Key.excludeList, of: .map)?.credentialIDs() ?? []
        extensions = try fields.optional(Key.extensions, .map) ?? CBOR.Map()
        options = try RequestOptions(try fields.optional(Key.options, .map))
        proof = try fields.optional(Key.pinUvAuthParam, .bytes)
        enterprise = try fields.optional(Key.enterpriseAttestation, .unsigned)
        formats = try fields.optionalList(Key.attestationFormatsPreference, of: .text) ?? []
    }

    /// The algorithms that a credential may have. Each entry is checked, even if an earlier one can be used.
    private static func algorithms(_ entries: [CBOR]) throws(WireError) -> [Int64] {
        var algorithms: [Int64] = []
        for entry in entries {
            guard let parameters = entry.map else { throw WireError(.malformed, at: 0, "not a map") }
            let type = try parameters.needed("type", \.text)
            let algorithm = try parameters.needed("alg", \.int)
            if type == "public-key" { algorithms.append(algorithm) }
        }
        return algorithms
    }
}

extension FIDOAuthenticator {
    private typealias Reply = CTAPProtocol.MakeCredential.Reply

    /// makeCredential (CTAP 2.2 §6.1.2).
    mutating func makeCredential(_ fields: CBOR.Fields) throws(Refusal) -> CBOR {
        try memory.prepare(inputs, profile)
        var input = try Self.read { () throws(WireError) in try CreationInput(fields) }
        input.extensions = try known(input.extensions, Self.creationInputs)
        guard (1...3).contains(input.extensions["credProtect"]?.unsigned ?? 1) else {
            throw .ctap(Status.invalidParameter)
        }
        try checkDirectBlob(input)
        input.signingPolicy = try signingPolicy(input.extensions["previewSign"])
        try answerEmptyProof(input.proof)
        let wanted = input.algorithms.map { COSEAlgorithm($0) }
        guard let algorithm = wanted.first(where: profile.fidoAlgorithms.contains) else {
            throw .ctap(Status.unsupportedAlgorithm)
        }
        guard input.clientDataHash.count == 32, (1...64).contains(input.userID.count) else {
            throw .ctap(Status.invalidParameter)
        }
        if input.options.presence == false { throw .ctap(Status.invalidOption) }
        let isEnterprise = try allowsEnterprise(input)
        let isResident = input.options.isResident ?? false
        let wantsFinger = input.options.verification ?? (memory.alwaysUV && !memory.fingerprints.isEmpty)
        let user = try verify(
            input.proof, fields, CTAPProtocol.MakeCredential.Request.pinUvAuthProtocol.cbor, over: input.clientDataHash,
            permission: 0x01, rpID: input.rpID,
            wantsFinger: wantsFinger)
        let isVerified = user.isVerified
        if !isVerified, memory.alwaysUV || isProtected && (isResident || !registersWithoutVerification) {
            throw .ctap(Status.pinUvAuthTokenRequired)
        }
        if input.extensions["hmac-secret"]?.bool == true {
            input.salts = try salts(input.extensions["hmac-secret-mc"])
        }
        let rpIDHash = HashAlgorithm.sha256.hash(input.rpID.utf8)
        for id in input.excluded {
            guard let known = find(id, rpIDHash), known.protection < 3 || isVerified else { continue }
            try touch(input.rpID)
            throw .ctap(Status.credentialExcluded)
        }
        if algorithm == .rs256 { try inputs.keyPairs.prepare(2048) }
        if !user.isPresent { try touch(input.rpID) }
        let credential = try newCredential(input, algorithm, rpIDHash, isResident: isResident)
        tokenWasUsed()
        return try attestation(credential, input, rpIDHash, isVerified: isVerified, isEnterprise: isEnterprise)
    }

    /// Whether the key is protected by more than a touch: a PIN or fingerprints.
    var isProtected: Bool { memory.pinHash != nil || !memory.fingerprints.isEmpty }

    /// Before CTAP 2.1, a key with a PIN requires it for every credential.
    private var registersWithoutVerification: Bool { ctap >= .v21 && features.registersWithoutVerification }

    /// Returns the extension inputs without those unknown to this version; refuses inputs of the wrong type.
    func known(_ inputs: CBOR.Map, _ types: [String: @Sendable (CBOR) -> Bool]) throws(Refusal) -> CBOR.Map {
        var known = CBOR.Map()
        for name in extensions {
            guard let input = inputs[.text(name)] else { continue }
            guard types[name]?(input) ?? true else { throw .ctap(Status.cborUnexpectedType) }
            known[.text(name)] = input
        }
        return known
    }

    /// The types of the extensions' inputs to makeCredential (CTAP 2.2 §12).
    private static let creationInputs: [String: @Sendable (CBOR) -> Bool] = [
        "credProtect": { $0.unsigned != nil }, "credBlob": { $0.bytes != nil }, "hmac-secret-mc": { $0.map != nil },
        "hmac-secret": { $0.bool != nil }, "largeBlobKey": { $0.bool != nil }, "minPinLength": { $0.bool != nil },
        "largeBlob": { $0.map != nil }, "pinComplexityPolicy": { $0.bool != nil }, "previewSign": { $0.map != nil },
        "thirdPartyPayment": { $0.bool != nil },
    ]

    /// Whether the attestation may identify this key uniquely (CTAP 2.2 §7.1).
    private func allowsEnterprise(_ input: CreationInput) throws(Refusal) -> Bool {
        guard let kind = input.enterprise, ctap >= .v21 else { return false }
        guard memory.enterpriseAttestation else { throw .ctap(Status.invalidParameter) }
        switch kind {
        case 1: return features.enterpriseRelyingParties.contains(input.rpID)
        case 2: return true
        default: throw .ctap(Status.invalidOption)
        }
    }

    /// Handles an empty proof, which only requests a touch and asks whether a PIN is set (CTAP 2.2 §6.1.2, step 1).
    func answerEmptyProof(_ proof: [UInt8]?) throws(Refusal) {
        guard let proof, proof.isEmpty else { return }
        try touch("selection")
        throw .ctap(memory.pinHash == nil ? Status.pinNotSet : Status.pinInvalid)
    }

    /// Returns whether the user was verified, by a proof with the token or by fingerprint, and whether that also proves
    /// presence.
    mutating func verify(
        _ proof: [UInt8]?, _ fields: CBOR.Fields, _ key: CBOR, over message: [UInt8], permission: UInt64, rpID: String,
        wantsFinger: Bool
    ) throws(Refusal) -> (isVerified: Bool, isPresent: Bool) {
        guard let proof else {
            guard wantsFinger else { return (false, false) }
            guard !memory.fingerprints.isEmpty else {
                throw .ctap(ctap < .v21 ? Status.unsupportedOption : Status.invalidOption)
            }
            try verifyFinger(wrong: Status.operationDenied, blocked: Status.pinBlocked)
            return (true, true)
        }
        let version = try pinProtocol(fields, at: key)
        try check(proof: proof, version, over: message, permission: permission, rpID: rpID)
        return (true, power.token?.isPresent ?? false)
    }

    /// Finds the credential with this identifier: a stored one, or one that this key made for this relying party.
    func find(_ id: [UInt8], _ rpIDHash: [UInt8]) -> VirtualCredential? {
        memory.credentials.first { $0.id == id && $0.rpIDHash == rpIDHash }
            ?? memory.hidden.first { $0.id == id && $0.rpIDHash == rpIDHash }
            ?? CredentialVault(seed: memory.seed).open(id, rpIDHash: rpIDHash)
    }

    private mutating func newCredential(
        _ input: CreationInput, _ algorithm: COSEAlgorithm, _ rpIDHash: [UInt8], isResident: Bool
    ) throws(Refusal) -> VirtualCredential {
        let protection = input.extensions["credProtect"]?.unsigned ?? 1
        let wantsLargeBlob = input.extensions["largeBlobKey"]?.bool
        if wantsLargeBlob == false || wantsLargeBlob == true && !isResident { throw .ctap(Status.invalidOption) }
        var credential = CredentialVault(seed: memory.seed).make(
            try inputs.draw(32), rpIDHash: rpIDHash, algorithm: algorithm, protection: protection,
            isStored: isResident)
        if algorithm == .rs256 {
            credential.privateKey = try inputs.keyPairs.take(2048).der.value.copyBytes()
            credential.rpID = input.rpID
        }
        guard isResident else {
            if algorithm == .rs256 {
                memory.hidden = memory.hidden.suffix(profile.credentialLimit - 1) + [credential]
            }
            return credential
        }
        credential.secret = try inputs.draw(32)
        credential.rpID = input.rpID
        credential.userID = input.userID
        credential.userName = input.userName.map { String($0.prefix(64)) }
        credential.displayName = input.displayName.map { String($0.prefix(64)) }
        credential.blob = input.extensions["credBlob"]?.bytes.flatMap { $0.count <= 32 ? $0 : nil }
        if input.extensions["largeBlob"] != nil { credential.directBlob = VirtualCredential.DirectBlob() }
        credential.allowsPayment = input.extensions["thirdPartyPayment"]?.bool ?? false
        if wantsLargeBlob == true { credential.largeBlobKey = try inputs.draw(32) }
        let same = memory.credentials.firstIndex { $0.rpIDHash == rpIDHash && $0.userID == input.userID }
        if let same { memory.credentials.remove(at: same) }
        guard memory.credentials.count < profile.credentialLimit else { throw .ctap(Status.keyStoreFull) }
        memory.credentials.append(credential)
        return credential
    }

    private mutating func attestation(
        _ credential: VirtualCredential, _ input: CreationInput, _ rpIDHash: [UInt8], isVerified: Bool,
        isEnterprise: Bool
    ) throws(Refusal) -> CBOR {
        let extensions = try extensionAnswers(credential, input, isVerified: isVerified)
        let attested = AuthenticatorData.AttestedCredential(
            aaguid: aaguid, id: credential.id, publicKey: try credential.publicKey())
        let data = AuthenticatorData(
            rpIDHash: rpIDHash, flags: isVerified ? [.userPresent, .userVerified] : .userPresent,
            counter: nextCount(), credential: attested, extensions: extensions.isEmpty ? nil : extensions)
        var answer = CBOR.Map(keys: [
            Reply.fmt: "none", Reply.authData: .bytes(data.bytes), Reply.attStmt: .map(CBOR.Map()),
        ])
        let format = input.formats.first { profile.attestationFormats.contains($0) }
        if format != "none" || isEnterprise {
            let signature = try attest(data.bytes + input.clientDataHash)
            let certificate = isEnterprise ? try ownCertificate() : memory.certificate
            answer[Reply.fmt] = "packed"
            answer[Reply.attStmt] = ["alg": -7, "sig": .bytes(signature), "x5c": [.bytes(certificate)]]
        }
        if isEnterprise { answer[Reply.epAtt] = true }
        answer[Reply.largeBlobKey] = credential.largeBlobKey.map(CBOR.bytes)
        var unsigned = CBOR.Map()
        if credential.directBlob != nil { unsigned["largeBlob"] = ["supported": true] }
        if let policy = input.signingPolicy {
            unsigned["previewSign"] = try signingKey(policy, for: credential, data, input.clientDataHash)
        }
        if !unsigned.isEmpty { answer[Reply.unsignedExtensionOutputs] = .map(unsigned) }
        return .map(answer)
    }

    /// A certificate with the serial number; keys created before there was an authority have none.
    private func ownCertificate() throws(Refusal) -> [UInt8] {
        guard !memory.authorityKey.isEmpty else { return memory.certificate }
        do { return try memory.certificate(profile, device: profile.serial) } catch { throw .ctap(Status.other) }
    }

    private mutating func extensionAnswers(
        _ credential: VirtualCredential, _ input: CreationInput, isVerified: Bool
    ) throws(Refusal) -> CBOR.Map {
        var extensions = CBOR.Map()
        if input.extensions["credProtect"] != nil { extensions["credProtect"] = .unsigned(credential.protection) }
        if input.extensions["hmac-secret"]?.bool == true { extensions["hmac-secret"] = true }
        if input.extensions["credBlob"] != nil { extensions["credBlob"] = .bool(credential.blob != nil) }
        if input.extensions["minPinLength"]?.bool == true, memory.minPINReaders.contains(input.rpID) {
            extensions["minPinLength"] = .unsigned(minPINLength)
        }
        if input.extensions["pinComplexityPolicy"]?.bool == true, memory.minPINReaders.contains(input.rpID) {
            extensions["pinComplexityPolicy"] = .bool(requiresComplexPIN)
        }
        if input.signingPolicy != nil { extensions["previewSign"] = Self.signingOutput }
        if let salts = input.salts {
            extensions["hmac-secret-mc"] = try secrets(salts, of: credential, isVerified: isVerified)
        }
        return extensions
    }

    /// Signs with the attestation key.
    func attest(_ message: [UInt8]) throws(Refusal) -> [UInt8] {
        do { return try PrivateKey(.p256, scalar: Secret(memory.attestationKey)).sign(message) } catch {
            throw .ctap(Status.other)
        }
    }
}

// The maps inside requests. A member of the wrong type is refused, not treated as absent.

/// The options of makeCredential and getAssertion; others are ignored.
struct RequestOptions: Sendable {
    /// rk: whether the credential is to be discoverable.
    var isResident: Bool?
    /// up: whether the user must be present.
    var presence: Bool?
    /// uv: whether the key itself must verify the user.
    var verification: Bool?

    init(_ options: CBOR.Map?) throws(WireError) {
        isResident = try options?.member("rk", \.bool)
        presence = try options?.member("up", \.bool)
        verification = try options?.member("uv", \.bool)
    }
}

extension CBOR.Map {
    /// The value of a member, `nil` if it is absent.
    func member<Value>(_ name: CBOR, _ read: (CBOR) -> Value?) throws(WireError) -> Value? {
        guard let item = self[name] else { return nil }
        guard let value = read(item) else { throw WireError(.malformed, at: 0, "\(name): \(item.kindName)") }
        return value
    }

    /// The value of a required member.
    func needed<Value>(_ name: CBOR, _ read: (CBOR) -> Value?) throws(WireError) -> Value {
        guard let value = try member(name, read) else { throw WireError(.missing, at: 0, "\(name)") }
        return value
    }
}

extension [CBOR.Map] {
    /// The identifiers in a list of credentials. Every entry is checked; one of an unknown type is skipped.
    func credentialIDs() throws(WireError) -> [[UInt8]] {
        var identifiers: [[UInt8]] = []
        for entry in self {
            let type = try entry.needed("type", \.text)
            // python-fido2 2.2.1 writes an identifier without bytes as an empty array.
            let id = try entry.needed("id") { $0.bytes ?? ($0.array == [] ? [] : nil) }
            if type == "public-key" { identifiers.append(id) }
        }
        return identifiers
    }
}

extension CBOR {
    /// The strings of an array that contains nothing else.
    var texts: [String]? {
        guard let elements = array else { return nil }
        let texts = elements.compactMap(\.text)
        return texts.count == elements.count ? texts : nil
    }
}
