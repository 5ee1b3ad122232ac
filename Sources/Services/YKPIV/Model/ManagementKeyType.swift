// SPDX-License-Identifier: Apache-2.0

public import YKCrypto
public import YKWire

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
