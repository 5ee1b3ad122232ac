// SPDX-License-Identifier: Apache-2.0

import YKCrypto
import YKProtocols
import YKWire

/// The parameters of getAssertion.
struct AssertionInput: Sendable {
    private typealias Key = CTAPProtocol.GetAssertion.Request

    let rpID: String
    let clientDataHash: [UInt8]
    let allowed: [[UInt8]]?
    var extensions: CBOR.Map
    let options: RequestOptions
    let proof: [UInt8]?
    /// Whether the user was verified.
    var isVerified = false
    /// The input of hmac-secret.
    var salts: SaltInput?
    /// The signature requested with previewSign.
    var signature: [UInt8]?

    init(_ fields: CBOR.Fields) throws(WireError) {
        rpID = try fields.required(Key.rpId, .text)
        clientDataHash = try fields.required(Key.clientDataHash, .bytes)
        allowed = try fields.optionalList(Key.allowList, of: .map)?.credentialIDs()
        extensions = try fields.optional(Key.extensions, .map) ?? CBOR.Map()
        options = try RequestOptions(try fields.optional(Key.options, .map))
        proof = try fields.optional(Key.pinUvAuthParam, .bytes)
    }
}

extension FIDOAuthenticator {
    private typealias Reply = CTAPProtocol.GetAssertion.Reply

    /// getAssertion (CTAP 2.2 §6.2.2).
    mutating func getAssertion(_ fields: CBOR.Fields) throws(Refusal) -> CBOR {
        try memory.prepare(inputs, profile)
        var input = try Self.read { () throws(WireError) in try AssertionInput(fields) }
        input.extensions = try known(input.extensions, Self.assertionInputs)
        try answerEmptyProof(input.proof)
        guard input.clientDataHash.count == 32 else { throw .ctap(Status.invalidParameter) }
        if input.options.isResident != nil { throw .ctap(Status.unsupportedOption) }
        if input.extensions["largeBlobKey"]?.bool == false { throw .ctap(Status.invalidOption) }
        let needsTouch = input.options.presence ?? true
        if !needsTouch, input.extensions["hmac-secret"] != nil { throw .ctap(Status.unsupportedOption) }
        let wantsFinger = input.options.verification ?? (memory.alwaysUV && needsTouch && !memory.fingerprints.isEmpty)
        let user = try verify(
            input.proof, fields, CTAPProtocol.GetAssertion.Request.pinUvAuthProtocol.cbor, over: input.clientDataHash,
            permission: 0x02, rpID: input.rpID,
            wantsFinger: wantsFinger)
        input.isVerified = user.isVerified
        if !input.isVerified, memory.alwaysUV, needsTouch { throw .ctap(Status.pinUvAuthTokenRequired) }
        input.salts = try salts(input.extensions["hmac-secret"])
        try checkDirectBlob(input)
        let found = candidates(input)
        input.signature = try signature(input, of: found.first)
        if needsTouch, !user.isPresent { try touch(input.rpID) }
        guard let first = found.first else { throw .ctap(Status.noCredentials) }
        if needsTouch { tokenWasUsed() }
        let isListed = input.allowed != nil
        let answer = try assertion(
            first, input, isListed: isListed, isPresent: needsTouch, count: isListed ? 1 : found.count)
        if !isListed, found.count > 1 {
            power.assertions = .init(
                credentials: Array(found.dropFirst()), request: input, isPresent: needsTouch)
        }
        return answer
    }

    /// The types of the extensions' inputs to getAssertion (CTAP 2.2 §12).
    private static let assertionInputs: [String: @Sendable (CBOR) -> Bool] = [
        "hmac-secret": { $0.map != nil }, "credBlob": { $0.bool != nil }, "largeBlobKey": { $0.bool != nil },
        "largeBlob": { $0.map != nil }, "previewSign": { $0.map != nil }, "thirdPartyPayment": { $0.bool != nil },
    ]

    /// getNextAssertion (CTAP 2.2 §6.3).
    mutating func nextAssertion() throws(Refusal) -> CBOR {
        guard var pending = power.assertions, !pending.credentials.isEmpty,
            pending.since.duration(to: .now) <= FIDOPower.PendingAssertions.life
        else { throw .ctap(Status.notAllowed) }
        pending.since = .now
        let credential = pending.credentials.removeFirst()
        power.assertions = pending.credentials.isEmpty ? nil : pending
        return try assertion(credential, pending.request, isListed: false, isPresent: pending.isPresent, count: 1)
    }

    /// The credentials that may sign, newest first, as permitted by credProtect (CTAP 2.2 §12.1).
    private func candidates(_ input: AssertionInput) -> [VirtualCredential] {
        let rpIDHash = HashAlgorithm.sha256.hash(input.rpID.utf8)
        if let allowed = input.allowed {
            return allowed.compactMap { find($0, rpIDHash) }.filter { $0.protection < 3 || input.isVerified }
        }
        return memory.credentials.reversed().filter {
            $0.rpIDHash == rpIDHash && ($0.protection < 2 || input.isVerified)
        }
    }

    private mutating func assertion(
        _ credential: VirtualCredential, _ input: AssertionInput, isListed: Bool, isPresent: Bool, count: Int
    ) throws(Refusal) -> CBOR {
        var flags: AuthenticatorData.Flags = isPresent ? .userPresent : []
        if input.isVerified { flags.insert(.userVerified) }
        let extensions = try extensionAnswers(credential, input)
        let data = AuthenticatorData(
            rpIDHash: HashAlgorithm.sha256.hash(input.rpID.utf8), flags: flags, counter: nextCount(),
            extensions: extensions.isEmpty ? nil : extensions)
        let signature: [UInt8]
        do { signature = try credential.signingKey().sign(data.bytes + input.clientDataHash) } catch {
            throw .ctap(Status.other)
        }
        var answer = CBOR.Map(keys: [
            Reply.credential: ["id": .bytes(credential.id), "type": "public-key"], Reply.authData: .bytes(data.bytes),
            Reply.signature: .bytes(signature),
        ])
        if !credential.userID.isEmpty {
            var user: CBOR.Map = ["id": .bytes(credential.userID)]
            if input.isVerified {
                user["name"] = credential.userName.map(CBOR.text)
                user["displayName"] = credential.displayName.map(CBOR.text)
            }
            answer[Reply.user] = .map(user)
        }
        if count > 1 { answer[Reply.numberOfCredentials] = .int(Int64(count)) }
        if input.extensions["largeBlobKey"]?.bool == true {
            answer[Reply.largeBlobKey] = credential.largeBlobKey.map(CBOR.bytes)
        }
        if let output = useDirectBlob(of: credential, input) {
            answer[Reply.unsignedExtensionOutputs] = ["largeBlob": output]
        }
        return .map(answer)
    }

    private mutating func extensionAnswers(
        _ credential: VirtualCredential, _ input: AssertionInput
    ) throws(Refusal) -> CBOR.Map {
        var answers = CBOR.Map()
        if input.extensions["credBlob"]?.bool == true { answers["credBlob"] = .bytes(credential.blob ?? []) }
        if input.extensions["thirdPartyPayment"]?.bool == true {
            answers["thirdPartyPayment"] = .bool(credential.allowsPayment)
        }
        if let signature = input.signature {
            answers["previewSign"] = .map(CBOR.Map(keys: [CTAPProtocol.PreviewSign.Output.sig: .bytes(signature)]))
        }
        guard let salts = input.salts else { return answers }
        answers["hmac-secret"] = try secrets(salts, of: credential, isVerified: input.isVerified)
        return answers
    }
}

/// The input of hmac-secret: one or two salts, and the key that encrypts the answer (CTAP 2.2 §12.7).
struct SaltInput: Sendable {
    /// The decrypted salts: 32 or 64 bytes.
    let salts: [UInt8]
    let platform: CBOR.Map
    let version: PINProtocol
}

extension FIDOAuthenticator {
    private typealias Key = CTAPProtocol.HMACSecret

    /// Decrypts the salts of hmac-secret or hmac-secret-mc; `nil` if the request has neither.
    mutating func salts(_ item: CBOR?) throws(Refusal) -> SaltInput? {
        guard let item else { return nil }
        guard let map = item.map, let platform = map[Key.keyAgreement]?.map, let encrypted = map[Key.saltEnc]?.bytes,
            let proof = map[Key.saltAuth]?.bytes
        else { throw .ctap(Status.missingParameter) }
        let number = map[Key.pinUvAuthProtocol]?.unsigned ?? 1
        guard profile.pinProtocols.contains(number), let version = PINProtocol(rawValue: number) else {
            throw .ctap(Status.invalidParameter)
        }
        let shared = try sharedKey(version, try Self.fields(CBOR.map(platform).encoded))
        guard constantTimeEqual(shared.authenticate(encrypted), proof) else { throw .ctap(Status.pinAuthInvalid) }
        let salts = try decrypt(encrypted, shared)
        guard [32, 64].contains(salts.count) else { throw .ctap(Status.invalidLength) }
        return SaltInput(salts: salts, platform: platform, version: version)
    }

    /// The secrets of a credential for the salts, encrypted for the platform.
    mutating func secrets(
        _ input: SaltInput, of credential: VirtualCredential, isVerified: Bool
    ) throws(Refusal) -> CBOR {
        let shared = try sharedKey(input.version, try Self.fields(CBOR.map(input.platform).encoded))
        let secrets = stride(from: 0, to: input.salts.count, by: 32).flatMap { start in
            credential.hmacSecret(Array(input.salts[start..<(start + 32)]), isVerified: isVerified)
        }
        return .bytes(try encrypt(secrets, shared))
    }
}
