// SPDX-License-Identifier: Apache-2.0

import YKCrypto
import YKWire

/// Credentials that the key does not remember: the identifier carries what is needed to make the key pair again, and
/// a code over it and the relying party.
struct CredentialVault {
    let seed: [UInt8]

    /// Bytes of an identifier: algorithm, protection, nonce, code.
    static let idSize = 2 + 32 + 32

    /// A new credential around 32 random bytes.
    func make(_ nonce: [UInt8], rpIDHash: [UInt8], algorithm: COSEAlgorithm, protection: UInt64) -> VirtualCredential {
        let head = [algorithm == .edDSA ? 2 : 1, UInt8(truncatingIfNeeded: protection)] + nonce
        var credential = VirtualCredential(
            id: head + code(head, rpIDHash), rpID: "", algorithm: algorithm, secret: secret(head, rpIDHash))
        credential.protection = protection
        return credential
    }

    /// The credential of an identifier that this key made for this relying party.
    func open(_ id: [UInt8], rpIDHash: [UInt8]) -> VirtualCredential? {
        guard id.count == Self.idSize else { return nil }
        let head = Array(id.prefix(34))
        guard constantTimeEqual(Array(id.dropFirst(34)), code(head, rpIDHash)) else { return nil }
        var credential = VirtualCredential(
            id: id, rpID: "", algorithm: head[0] == 2 ? .edDSA : .es256, secret: secret(head, rpIDHash))
        credential.protection = UInt64(head[1])
        return credential
    }

    private func code(_ head: [UInt8], _ rpIDHash: [UInt8]) -> [UInt8] {
        HashAlgorithm.sha256.hmac(key: Secret(seed), [0x01] + rpIDHash + head)
    }

    /// The secret bytes; HMAC's output is a private number on P-256 but for one in 2^32, which then fails to sign.
    private func secret(_ head: [UInt8], _ rpIDHash: [UInt8]) -> [UInt8] {
        HashAlgorithm.sha256.hmac(key: Secret(seed), [0x02] + rpIDHash + head)
    }
}
