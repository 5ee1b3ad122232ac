// SPDX-License-Identifier: Apache-2.0

public import YKCrypto

/// The keys of a new credential.
public enum HSMAuthKey: Sendable {
    /// K-ENC and K-MAC, 16 bytes each.
    case symmetric(encryption: SharedSecret, mac: SharedSecret)
    /// A private key on P-256: 32 bytes, most significant byte first.
    case p256(SharedSecret)
    /// A P-256 key generated on the key; its private half never leaves it.
    case generatedP256

    /// The algorithm of the credential.
    public var algorithm: HSMAuthAlgorithm {
        if case .symmetric = self { .aes128 } else { .p256 }
    }

    private static let salt = Array("Yubico".utf8)
    private static let rounds = 10_000

    /// K-ENC and K-MAC concatenated, 32 bytes.
    ///
    /// - Throws: `badKeyLength` for another length.
    public static func symmetric(_ keys: borrowing Secret) throws(HSMAuthError) -> HSMAuthKey {
        guard keys.count == 32 else { throw .badKeyLength(keys.count) }
        var bytes = keys.copyBytes()
        defer { Secret.wipe(&bytes) }
        return .symmetric(
            encryption: SharedSecret(Secret(bytes[..<16])), mac: SharedSecret(Secret(bytes[16...])))
    }

    /// K-ENC and K-MAC from a password: PBKDF2-HMAC-SHA-256, the salt `Yubico`, 10000 rounds. The salt is public, so
    /// the keys are as strong as the password.
    public static func derived(from password: borrowing Secret) throws(HSMAuthError) -> HSMAuthKey {
        try symmetric(try derive(password))
    }

    /// A P-256 key from a password, as in Yubico's C library: the same derivation, with one byte appended to the
    /// password, which counts up from 00 until the 32 bytes are a valid private key.
    public static func derivedP256(from password: borrowing Secret) throws(HSMAuthError) -> HSMAuthKey {
        for suffix in UInt8.min ... .max {
            var text = password.copyBytes() + [suffix]
            defer { Secret.wipe(&text) }
            let number = try derive(Secret(text))
            if (try? P256KeyAgreement(scalar: number)) != nil { return .p256(SharedSecret(number)) }
        }
        throw .crypto(CryptoFault("P-256: no private key from this password"))
    }

    private static func derive(_ password: borrowing Secret) throws(HSMAuthError) -> Secret {
        do { return try HashAlgorithm.sha256.pbkdf2(password, salt: salt, rounds: rounds, length: 32) } catch {
            throw .crypto(error)
        }
    }
}
