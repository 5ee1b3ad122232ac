// SPDX-License-Identifier: Apache-2.0

import YKCrypto
import YKWire

/// Credentials that the key does not remember: the identifier carries what is needed to make the key pair again, and
/// a code over it and the relying party.
struct CredentialVault {
    let seed: [UInt8]

    /// Bytes of an identifier: algorithm, protection, nonce, code.
    static let idSize = 2 + 32 + 32
    /// Which number stands for which algorithm.
    private static let algorithms: [UInt8: COSEAlgorithm] = [
        1: .es256, 2: .edDSA, 3: .es384, 4: .es512, 5: .rs256,
    ]

    /// A new credential around 32 random bytes. The identifier of one that the key stores does not open: once it is
    /// deleted, the key does not know it any more.
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

    /// The credential of an identifier that this key made for this relying party. An RSA key does not fit into one.
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

    /// The secret bytes; HMAC's output is a private number on P-256 but for one in 2^32, which then fails to sign.
    private func secret(_ head: [UInt8], _ rpIDHash: [UInt8]) -> [UInt8] {
        HashAlgorithm.sha256.hmac(key: Secret(seed), [0x02] + rpIDHash + head)
    }
}
