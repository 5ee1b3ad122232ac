// SPDX-License-Identifier: Apache-2.0

import YKCrypto
import YKProtocols
import YKWire

/// What a key of previewSign requires for each signature.
enum SigningPolicy: UInt8 {
    case unattended = 0b000
    case presence = 0b001
    case verification = 0b101
}

extension DeviceProfile {
    /// Whether the security key can create keys that sign arbitrary data (firmware 5.8).
    var hasPreviewSign: Bool { fido.version >= .v23 && isFirmware58 }
}

/// previewSign (WebAuthn's sign extension, version 4 of 2025-08-21), with the one algorithm of firmware 5.8.
extension FIDOAuthenticator {
    private typealias Input = CTAPProtocol.PreviewSign.Input
    private typealias Output = CTAPProtocol.PreviewSign.Output
    private typealias Part = CTAPProtocol.PreviewSign.Attestation

    /// The signed output of makeCredential.
    static let signingOutput = CBOR.map(CBOR.Map(keys: [Output.alg: .int(COSEAlgorithm.esp256SplitARKG.rawValue)]))

    /// Reads the input of makeCredential.
    func signingPolicy(_ input: CBOR?) throws(Refusal) -> SigningPolicy? {
        guard let map = input?.map else { return nil }
        let flags = map[Input.flags]?.unsigned ?? UInt64(SigningPolicy.presence.rawValue)
        guard let policy = UInt8(exactly: flags).flatMap(SigningPolicy.init(rawValue:)),
            let algorithms = map[Input.alg]?.array
        else { throw .ctap(Status.invalidOption) }
        guard algorithms.contains(where: { $0.int == COSEAlgorithm.esp256SplitARKG.rawValue }) else {
            throw .ctap(Status.unsupportedAlgorithm)
        }
        return policy
    }

    /// The unsigned output of makeCredential: a new signing key with an attestation of its own.
    func signingKey(
        _ policy: SigningPolicy, for credential: VirtualCredential, _ data: AuthenticatorData, _ clientDataHash: [UInt8]
    ) throws(Refusal) -> CBOR {
        let handle = SigningHandle(policy: policy, nonce: try inputs.draw(32))
        let seed: COSEKey
        do { seed = try COSEKey(arkg: try handle.seed(memory.seed, credential, data.rpIDHash).publicSeed()) } catch {
            throw .ctap(Status.other)
        }
        let inner = AuthenticatorData(
            rpIDHash: data.rpIDHash, flags: data.flags, counter: 0,
            credential: .init(
                aaguid: aaguid, id: handle.bytes(memory.seed, credential, data.rpIDHash), publicKey: seed),
            extensions: ["previewSign": .map(CBOR.Map(keys: [Output.flags: .unsigned(UInt64(policy.rawValue))]))])
        let statement: CBOR = [
            "alg": -7, "sig": .bytes(try attest(inner.bytes + clientDataHash)), "x5c": [.bytes(memory.certificate)],
        ]
        let object = CBOR.map(
            CBOR.Map(keys: [Part.fmt: "packed", Part.authData: .bytes(inner.bytes), Part.attStmt: statement]))
        return .map(CBOR.Map(keys: [Output.attObj: .bytes(object.encoded)]))
    }

    /// The signature requested in getAssertion, by the key that was created with the credential; `nil` if none is
    /// requested, or there is no credential.
    func signature(_ request: AssertionInput, of credential: VirtualCredential?) throws(Refusal) -> [UInt8]? {
        guard let input = request.extensions["previewSign"]?.map else { return nil }
        guard request.allowed?.isEmpty == false, let bytes = input[Input.kh]?.bytes,
            let digest = input[Input.tbs]?.bytes
        else { throw .ctap(Status.invalidOption) }
        guard let credential else { return nil }
        let rpIDHash = HashAlgorithm.sha256.hash(request.rpID.utf8)
        guard let handle = SigningHandle(bytes, memory.seed, credential, rpIDHash) else {
            throw .ctap(Status.invalidCredential)
        }
        let (keyHandle, context) = try Self.arguments(input[Input.args]?.bytes)
        guard digest.count == HashAlgorithm.sha256.digestSize else { throw .ctap(Status.invalidLength) }
        if handle.policy != .unattended, request.options.presence == false { throw .ctap(Status.userPresenceRequired) }
        if handle.policy == .verification, !request.isVerified { throw .ctap(Status.pinUvAuthTokenRequired) }
        do {
            let seed = try handle.seed(memory.seed, credential, rpIDHash)
            return try PrivateKey(.p256, scalar: try seed.derive(keyHandle, context: context)).sign(digest: digest)
        } catch { throw .ctap(Status.invalidCredential) }
    }

    /// The ARKG key handle and context in COSE_Sign_Args; other members are ignored.
    private static func arguments(_ bytes: [UInt8]?) throws(Refusal) -> (keyHandle: [UInt8], context: [UInt8]) {
        guard let bytes else { throw .ctap(Status.missingParameter) }
        let map = try fields(bytes).map
        guard map[3]?.int == COSEAlgorithm.esp256SplitARKG.rawValue, let handle = map[-1]?.bytes,
            let context = map[-2]?.bytes
        else { throw .ctap(Status.invalidCredential) }
        return (handle, context)
    }
}

/// The handle of a signing key: the policy and the nonce from which the key is derived, and a MAC over them and the
/// credential.
private struct SigningHandle {
    let policy: SigningPolicy
    let nonce: [UInt8]

    init(policy: SigningPolicy, nonce: [UInt8]) { (self.policy, self.nonce) = (policy, nonce) }

    /// Opens a handle that was created with this credential.
    init?(_ bytes: [UInt8], _ secret: [UInt8], _ credential: VirtualCredential, _ rpIDHash: [UInt8]) {
        guard bytes.count == 65, let policy = SigningPolicy(rawValue: bytes[0]) else { return nil }
        self.init(policy: policy, nonce: Array(bytes[1..<33]))
        guard constantTimeEqual(bytes, self.bytes(secret, credential, rpIDHash)) else { return nil }
    }

    func bytes(_ secret: [UInt8], _ credential: VirtualCredential, _ rpIDHash: [UInt8]) -> [UInt8] {
        [policy.rawValue] + nonce + derived(0x04, secret, credential, rpIDHash)
    }

    /// The seed of the key.
    func seed(
        _ secret: [UInt8], _ credential: VirtualCredential, _ rpIDHash: [UInt8]
    ) throws(CryptoFault) -> ARKGP256.PrivateSeed {
        try ARKGP256.PrivateSeed(
            blinding: Secret(derived(0x05, secret, credential, rpIDHash)),
            encapsulation: Secret(derived(0x06, secret, credential, rpIDHash)))
    }

    private func derived(
        _ use: UInt8, _ secret: [UInt8], _ credential: VirtualCredential, _ rpIDHash: [UInt8]
    ) -> [UInt8] {
        HashAlgorithm.sha256.hmac(
            key: Secret(secret), [use, policy.rawValue] + nonce + rpIDHash + HashAlgorithm.sha256.hash(credential.id))
    }
}

extension COSEKey {
    /// A seed of ARKG-P256 as COSE writes it.
    fileprivate init(arkg seed: ARKGP256.PublicSeed) throws(WireError) {
        func point(_ bytes: [UInt8], _ algorithm: COSEAlgorithm) -> CBOR {
            .map(
                COSEKey(
                    ec2: .p256, algorithm: algorithm, x: Array(bytes[1..<33]), y: Array(bytes[33..<65])
                ).map)
        }
        let map: CBOR = [
            1: -65537, 3: .int(COSEAlgorithm.arkgP256.rawValue), -1: point(seed.blinding, .es256),
            -2: point(seed.encapsulation, .ecdhESHKDF256), -3: .int(COSEAlgorithm.esp256.rawValue),
        ]
        try self.init(decoding: map.encoded)
    }
}
