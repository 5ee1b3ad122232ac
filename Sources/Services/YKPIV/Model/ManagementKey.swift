// SPDX-License-Identifier: Apache-2.0

public import YKCrypto

/// The key that authorizes changes to a card.
public struct ManagementKey: ~Copyable, Sendable {
    let secret: Secret

    /// Wraps a key: 16 bytes of AES-128, 24 of 3DES or AES-192, 32 of AES-256. The length is checked against the card's
    /// key type when it is used.
    public init(_ bytes: consuming Secret) { secret = bytes }

    /// The default management key: 01 to 08 three times, whatever the cipher.
    public static func defaultKey() -> ManagementKey {
        ManagementKey(Secret([[UInt8]](repeating: Array(1...8), count: 3).joined().map { $0 }))
    }

    /// Derives the key from a PIN and the salt in ykman's administrative data, as old versions did: PBKDF2-HMAC-SHA-1,
    /// 10 000 rounds, 24 bytes.
    public init(pin: borrowing PIVPIN, salt: [UInt8]) throws(PIVError) {
        var text = pin.copyText()
        defer { Secret.wipe(&text) }
        do {
            secret = try HashAlgorithm.sha1.pbkdf2(Secret(text), salt: salt, rounds: 10_000, length: 24)
        } catch { throw .crypto(error) }
    }

    /// Returns a copy of the key.
    public borrowing func copy() -> ManagementKey { ManagementKey(secret.copy()) }
    /// Returns the bytes; wipe them afterwards.
    public borrowing func copyBytes() -> [UInt8] { secret.copyBytes() }
}
