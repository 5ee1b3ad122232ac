// SPDX-License-Identifier: Apache-2.0

import YKCrypto
import YKWire

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
