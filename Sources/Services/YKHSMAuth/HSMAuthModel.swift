// SPDX-License-Identifier: Apache-2.0

public import YKCrypto
public import YKTransport
public import YKWire

/// The kind of a credential.
public struct HSMAuthAlgorithm: OpenSet {
    /// The algorithm byte.
    public let rawValue: UInt8
    /// Wraps an algorithm byte.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Two AES-128 keys, for an SCP03 session.
    public static let aes128 = HSMAuthAlgorithm(rawValue: 38)
    /// A P-256 key, for a session similar to SCP11.
    public static let p256 = HSMAuthAlgorithm(rawValue: 39)

    /// The usual name, otherwise the number.
    public var description: String {
        switch self {
        case .aes128: "aes128"
        case .p256: "ecc-p256"
        default: "algorithm \(rawValue)"
        }
    }
}

/// The name of a credential: 1 to 64 bytes, usually UTF-8.
public struct HSMAuthLabel: Hashable, Sendable {
    /// Maximum length of a label in bytes.
    public static let limit = 64
    /// The bytes as stored on the key.
    public let bytes: [UInt8]

    /// A label read from the key.
    init(bytes: [UInt8]) { self.bytes = bytes }

    /// Creates a label from the UTF-8 bytes of a string.
    ///
    /// - Throws: `badLabel` if it has none or more than 64.
    public init(_ text: String) throws(HSMAuthError) {
        bytes = Array(text.utf8)
        guard (1...Self.limit).contains(bytes.count) else { throw .badLabel(bytes: bytes.count) }
    }

    /// The label as text; bytes that are not UTF-8 are replaced.
    public var text: String { String(decoding: bytes, as: UTF8.self) }
}

/// A credential as listed by LIST.
public struct HSMAuthCredential: Hashable, Sendable {
    /// Its name.
    public let label: HSMAuthLabel
    /// The algorithm of its keys.
    public let algorithm: HSMAuthAlgorithm
    /// Whether CALCULATE requires a touch; `nil` for an unknown value.
    public let needsTouch: Bool?
    /// The remaining retries; after the last the key deletes the credential.
    public let retries: Int
}

/// A 16-byte secret that the key verifies: the password of a credential, or the management key.
public struct HSMAuthPassword: ~Copyable, Sendable {
    /// The length in bytes.
    public static let size = 16
    private let bytes: Secret

    /// Creates a password: UTF-8, padded with 00 to 16 bytes; 32 hexadecimal digits are the 16 bytes themselves.
    ///
    /// - Throws: `passwordTooLong` for more than 16 bytes.
    public init(_ text: borrowing Secret) throws(HSMAuthError) {
        var input = text.copyBytes()
        defer { Secret.wipe(&input) }
        if input.count == 2 * Self.size, var raw = Self.unhex(input) {
            defer { Secret.wipe(&raw) }
            bytes = Secret(raw)
            return
        }
        guard input.count <= Self.size else { throw .passwordTooLong(bytes: input.count) }
        var padded = input + [UInt8](repeating: 0, count: Self.size - input.count)
        defer { Secret.wipe(&padded) }
        bytes = Secret(padded)
    }

    private init(bytes: consuming Secret) { self.bytes = bytes }

    /// The default management key: sixteen bytes 00.
    public static func defaultManagementKey() -> HSMAuthPassword {
        HSMAuthPassword(bytes: Secret([UInt8](repeating: 0, count: size)))
    }

    /// Whether it is the default management key, or an empty password.
    public var isDefault: Bool { bytes == Secret([UInt8](repeating: 0, count: Self.size)) }

    /// Returns a copy.
    public borrowing func copy() -> HSMAuthPassword { HSMAuthPassword(bytes: bytes.copy()) }

    borrowing func copyBytes() -> [UInt8] { bytes.copyBytes() }

    private static func unhex(_ digits: [UInt8]) -> [UInt8]? {
        var result: [UInt8] = []
        for index in stride(from: 0, to: digits.count, by: 2) {
            guard let high = Hex.nibble(digits[index]), let low = Hex.nibble(digits[index + 1]) else {
                Secret.wipe(&result)
                return nil
            }
            result.append(high << 4 | low)
        }
        return result
    }
}

/// The keys of a session with a YubiHSM.
public struct HSMSessionKeys: Sendable {
    /// S-ENC: encrypts the messages.
    public let encryption: SharedSecret
    /// S-MAC: authenticates the commands.
    public let mac: SharedSecret
    /// S-RMAC: authenticates the responses.
    public let responseMAC: SharedSecret
}

/// A feature that requires a minimum firmware version.
public enum HSMAuthFeature: String, Sendable, Hashable, CaseIterable {
    /// P-256 credentials, GET PUBLIC KEY.
    case asymmetric = "asymmetric credentials"
    /// GET CHALLENGE.
    case challenge = "a challenge from the key"
    /// CHANGE CREDENTIAL PASSWORD.
    case passwordChange = "changing a credential password"

    /// The first firmware that supports it.
    public var firstVersion: FirmwareVersion {
        switch self {
        case .asymmetric, .challenge: FirmwareVersion(5, 6, 0)
        case .passwordChange: FirmwareVersion(5, 8, 0)
        }
    }
}

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
