// SPDX-License-Identifier: Apache-2.0

public import YKCrypto
public import YKWire

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

/// The cipher of a management key (NIST SP 800-78-4 Table 6-2).
public struct ManagementKeyType: OpenSet {
    /// The algorithm identifier.
    public let rawValue: UInt8
    /// Wraps an identifier; 00 is another name for 3DES.
    public init(rawValue: UInt8) { self.rawValue = rawValue == 0 ? 0x03 : rawValue }

    /// 3DES.
    public static let tripleDES = ManagementKeyType(rawValue: 0x03)
    /// AES with 128 bits.
    public static let aes128 = ManagementKeyType(rawValue: 0x08)
    /// AES with 192 bits.
    public static let aes192 = ManagementKeyType(rawValue: 0x0A)
    /// AES with 256 bits.
    public static let aes256 = ManagementKeyType(rawValue: 0x0C)

    /// Every known type, in the order in which a card is probed for them.
    public static let known: [ManagementKeyType] = [.tripleDES, .aes192, .aes128, .aes256]

    /// Parses `tdes` or `3des`, `aes128`, `aes192`, `aes256`; `nil` for any other string.
    public init?(_ text: String) {
        let text = text.lowercased()
        let match = Self.known.first { $0.description == text }
        guard let match = text == "3des" ? .tripleDES : match else { return nil }
        self = match
    }

    /// The key size in bytes; `nil` for an unknown type.
    public var keySize: Int? { [0x03: 24, 0x08: 16, 0x0A: 24, 0x0C: 32][rawValue] }
    /// The cipher; `nil` for an unknown type.
    public var cipher: BlockCipher? { self == .tripleDES ? .tripleDES : keySize == nil ? nil : .aes }

    /// The name on the command line, otherwise the identifier.
    public var description: String {
        [0x03: "tdes", 0x08: "aes128", 0x0A: "aes192", 0x0C: "aes256"][rawValue]
            ?? "algorithm \(Hex.encode([rawValue]))"
    }
}
