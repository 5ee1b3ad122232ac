// SPDX-License-Identifier: Apache-2.0

import YKCrypto
package import YKWire

/// A discoverable credential, or one decoded from its identifier.
package struct VirtualCredential: Hashable, Sendable {
    /// The credential identifier.
    package var id: [UInt8]
    /// The relying party.
    package var rpID: String
    /// SHA-256 of the relying party's identifier.
    package var rpIDHash: [UInt8] { HashAlgorithm.sha256.hash(rpID.utf8) }
    /// The user handle; empty for a non-discoverable credential.
    package var userID: [UInt8] = []
    /// The account's name.
    package var userName: String?
    /// The account's display name.
    package var displayName: String?
    /// The algorithm, one of ``FIDOAuthenticator/algorithms``.
    package var algorithm: COSEAlgorithm
    /// 32 secret bytes from which the private key and the hmac-secret keys are derived.
    package var secret: [UInt8]
    /// The DER-encoded private key if it is not derived from the secret bytes (RSA).
    package var privateKey: [UInt8]?
    /// The credProtect level.
    package var protection: UInt64 = 1
    /// The credBlob value.
    package var blob: [UInt8]?
    /// The key for the large blob.
    package var largeBlobKey: [UInt8]?
    /// The large blob that the credential stores itself; `nil` if it cannot have one.
    var directBlob: DirectBlob?
    /// The thirdPartyPayment flag.
    var allowsPayment = false

    /// A large blob in a credential.
    package struct DirectBlob: Hashable, Sendable {
        /// The compressed bytes; empty if there is none.
        package var bytes: [UInt8] = []
        /// The size before compression.
        package var size: UInt64 = 0
        /// The maximum size, in bytes.
        package static let limit = 512
    }

    /// The private key.
    func signingKey() throws(Refusal) -> PrivateKey {
        do {
            switch algorithm {
            case .edDSA: return try PrivateKey(ed25519: Secret(secret))
            case .es384: return try PrivateKey(.p384, scalar: Secret(try stretched(48)))
            case .es512:
                var number = try stretched(66)
                number[0] = 0
                return try PrivateKey(.p521, scalar: Secret(number))
            case .rs256: return try PrivateKey(der: Secret(privateKey ?? []))
            default: return try PrivateKey(.p256, scalar: Secret(secret))
            }
        } catch { throw .status(.memoryFailure) }
    }

    private func stretched(_ length: Int) throws(CryptoFault) -> [UInt8] {
        try HashAlgorithm.sha512.hkdf(Secret(secret), salt: [0], info: Array("ykit".utf8), length: length).copyBytes()
    }

    /// The public key.
    func publicKey() throws(Refusal) -> COSEKey {
        switch try signingKey().publicKey {
        case .rsa(let modulus, let exponent): return COSEKey(rsaModulus: modulus, exponent: exponent, algorithm: .rs256)
        case .ed25519(let bytes), .x25519(let bytes): return COSEKey(okp: .ed25519, algorithm: .edDSA, x: bytes)
        case .ec(let curve, let point):
            let x = Array(point[1...curve.fieldSize])
            let y = Array(point.suffix(curve.fieldSize))
            return switch curve {
            case .p384: COSEKey(ec2: .p384, algorithm: .es384, x: x, y: y)
            case .p521: COSEKey(ec2: .p521, algorithm: .es512, x: x, y: y)
            default: COSEKey(ec2: .p256, algorithm: .es256, x: x, y: y)
            }
        }
    }

    /// The hmac-secret output for a salt, which differs with and without user verification (CTAP 2.2 §12.7).
    func hmacSecret(_ salt: [UInt8], isVerified: Bool) -> [UInt8] {
        let label = isVerified ? "ykit hmac-secret with uv" : "ykit hmac-secret without uv"
        let key = Secret(HashAlgorithm.sha256.hmac(key: Secret(secret), Array(label.utf8)))
        return HashAlgorithm.sha256.hmac(key: key, salt)
    }
}

/// Credentials that the key does not store: the identifier contains the data from which the key pair is derived, and a
/// MAC over it and the relying party.
struct CredentialVault {
    let seed: [UInt8]

    /// The size of an identifier: algorithm, protection, nonce, MAC.
    static let idSize = 2 + 32 + 32
    /// The number of each algorithm in identifiers.
    private static let algorithms: [UInt8: COSEAlgorithm] = [
        1: .es256, 2: .edDSA, 3: .es384, 4: .es512, 5: .rs256,
    ]

    /// Creates a credential from 32 random bytes. A stored credential's identifier cannot be opened, so once it is
    /// deleted, the key no longer knows it.
    func make(
        _ nonce: [UInt8], rpIDHash: [UInt8], algorithm: COSEAlgorithm, protection: UInt64, isStored: Bool = false
    ) -> VirtualCredential {
        let number = Self.algorithms.first { $0.value == algorithm }?.key ?? 1
        let head = [number, UInt8(truncatingIfNeeded: protection)] + nonce
        var credential = VirtualCredential(
            id: head + code(head, rpIDHash, isStored: isStored), rpID: "", algorithm: algorithm,
            secret: secret(head, rpIDHash))
        credential.protection = protection
        return credential
    }

    /// Opens an identifier that this key created for this relying party. An RSA key does not fit into one.
    func open(_ id: [UInt8], rpIDHash: [UInt8]) -> VirtualCredential? {
        guard id.count == Self.idSize else { return nil }
        let head = Array(id.prefix(34))
        guard constantTimeEqual(Array(id.dropFirst(34)), code(head, rpIDHash)),
            let algorithm = Self.algorithms[head[0]], algorithm != .rs256
        else { return nil }
        var credential = VirtualCredential(id: id, rpID: "", algorithm: algorithm, secret: secret(head, rpIDHash))
        credential.protection = UInt64(head[1])
        return credential
    }

    private func code(_ head: [UInt8], _ rpIDHash: [UInt8], isStored: Bool = false) -> [UInt8] {
        HashAlgorithm.sha256.hmac(key: Secret(seed), [isStored ? 0x03 : 0x01] + rpIDHash + head)
    }

    /// The secret bytes. HMAC's output is a valid private scalar on P-256 except for one in 2^32, which fails to sign.
    private func secret(_ head: [UInt8], _ rpIDHash: [UInt8]) -> [UInt8] {
        HashAlgorithm.sha256.hmac(key: Secret(seed), [0x02] + rpIDHash + head)
    }
}
