// SPDX-License-Identifier: Apache-2.0

public import YKCrypto

/// The key behind the password of an OATH application: it unlocks the accounts.
public struct AccessKey: ~Copyable, Sendable {
    private let key: Secret

    /// Takes a key over that was derived before.
    public init(rawKey: consuming Secret) { key = rawKey }

    /// Derives the key from a password and the salt of ``OATHInfo/salt``: PBKDF2-HMAC-SHA-1, 1000 rounds, 16 bytes
    /// (YKOATH, "SET CODE").
    ///
    /// Throws `emptyPassword` for an empty password.
    public init(password: borrowing Secret, salt: [UInt8]) throws(OATHError) {
        if password.isEmpty { throw .emptyPassword }
        do {
            key = try HashAlgorithm.sha1.pbkdf2(password, salt: salt, rounds: 1000, length: 16)
        } catch {
            throw .crypto(error)
        }
    }

    /// The bytes, to be kept where the user wants the password remembered; wipe them afterwards.
    public borrowing func copyBytes() -> [UInt8] { key.copyBytes() }

    /// A second key with the same bytes.
    public borrowing func copy() -> AccessKey { AccessKey(rawKey: key.copy()) }

    /// The answer to a challenge: HMAC-SHA-1.
    borrowing func response(to challenge: [UInt8]) -> [UInt8] { HashAlgorithm.sha1.hmac(key: key, challenge) }
}
