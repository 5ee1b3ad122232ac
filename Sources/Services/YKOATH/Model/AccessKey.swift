// SPDX-License-Identifier: Apache-2.0

public import YKCrypto

/// The key derived from the password of an OATH application; it unlocks the accounts.
public struct AccessKey: ~Copyable, Sendable {
    private let key: Secret

    /// Wraps a key that was derived before.
    public init(rawKey: consuming Secret) { key = rawKey }

    /// Derives the key from a password and the salt of ``OATHInfo/salt``: PBKDF2-HMAC-SHA-1, 1000 rounds, 16 bytes
    /// (YKOATH, "SET CODE").
    ///
    /// - Throws: `emptyPassword` for an empty password.
    public init(password: borrowing Secret, salt: [UInt8]) throws(OATHError) {
        if password.isEmpty { throw .emptyPassword }
        do {
            key = try HashAlgorithm.sha1.pbkdf2(password, salt: salt, rounds: 1000, length: 16)
        } catch {
            throw .crypto(error)
        }
    }

    /// Returns the bytes, for storing the key where the user chooses; wipe them afterwards.
    public borrowing func copyBytes() -> [UInt8] { key.copyBytes() }

    /// Returns a copy of the key.
    public borrowing func copy() -> AccessKey { AccessKey(rawKey: key.copy()) }

    /// Returns the response to a challenge: HMAC-SHA-1.
    borrowing func response(to challenge: [UInt8]) -> [UInt8] { HashAlgorithm.sha1.hmac(key: key, challenge) }
}

/// A secret as PUT sends it: hashed if longer than the hash's block, padded with zeros to 14 bytes if shorter
/// (YKOATH, "PUT"; the codes stay the same, RFC 2104 §2).
struct OATHKey: ~Copyable, Sendable {
    let bytes: Secret

    init(_ secret: borrowing Secret, algorithm: HashAlgorithm) {
        var bytes = secret.copyBytes()
        defer { Secret.wipe(&bytes) }
        if bytes.count > algorithm.blockSize {
            var digest = algorithm.hash(bytes)
            defer { Secret.wipe(&digest) }
            self.bytes = Secret(digest)
        } else {
            self.bytes = Secret(bytes + [UInt8](repeating: 0, count: max(0, 14 - bytes.count)))
        }
    }
}
