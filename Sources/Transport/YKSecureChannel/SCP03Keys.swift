// SPDX-License-Identifier: Apache-2.0

public import YKCrypto
public import YKTransport
import YKWire

/// A static SCP03 key set: three AES-128 keys that the card and its administrators share
/// (GlobalPlatform Amendment D §6.1).
public struct SCP03Keys: Sendable {
    /// K-ENC, from which session encryption keys are derived.
    public let encryption: SharedSecret
    /// K-MAC, from which session MAC keys are derived.
    public let mac: SharedSecret
    /// K-DEK, which encrypts keys sent to the card; needed for PUT KEY only.
    public let dataEncryption: SharedSecret?

    /// The length of each key in bytes.
    public static let keySize = 16

    /// Wraps three keys of 16 bytes.
    ///
    /// - Throws: `badHostKey` for keys of another length.
    public init(
        encryption: SharedSecret, mac: SharedSecret, dataEncryption: SharedSecret?
    ) throws(SecureChannelFault) {
        for key in [encryption, mac, dataEncryption ?? mac] where key.value.count != Self.keySize {
            throw .badHostKey("a key of an SCP03 set has \(Self.keySize) bytes, not \(key.value.count)")
        }
        (self.encryption, self.mac, self.dataEncryption) = (encryption, mac, dataEncryption)
    }

    private init(all key: SharedSecret) { (encryption, mac, dataEncryption) = (key, key, key) }

    /// Parses `ENC:MAC` or `ENC:MAC:DEK`, each key in 32 hexadecimal digits; also separated by spaces or line ends.
    ///
    /// - Throws: `badHostKey` for any other text.
    public init(text: borrowing Secret) throws(SecureChannelFault) {
        var bytes = text.copyBytes()
        defer { Secret.wipe(&bytes) }
        var keys: [SharedSecret] = []
        for part in bytes.split(whereSeparator: { $0 == UInt8(ascii: ":") || $0 <= UInt8(ascii: " ") }) {
            guard keys.count < 3, let key = SecretHex.decode(part) else { throw Self.unreadable }
            keys.append(SharedSecret(key))
        }
        guard keys.count >= 2 else { throw Self.unreadable }
        try self.init(encryption: keys[0], mac: keys[1], dataEncryption: keys.count == 3 ? keys[2] : nil)
    }

    private static let unreadable = SecureChannelFault.badHostKey(
        "an SCP03 key set is ENC:MAC or ENC:MAC:DEK, each key in 32 hexadecimal digits")

    /// The factory key set of every YubiKey, 40 to 4F: it is public, and protects nothing.
    public static var factory: SCP03Keys { SCP03Keys(all: SharedSecret(Secret(Array(0x40...0x4F)))) }

    /// Whether the session keys are derived from the public factory keys.
    public var isFactory: Bool {
        let factory = Self.factory
        return encryption.value == factory.encryption.value && mac.value == factory.mac.value
    }

    /// The key check value: the first 3 bytes of the AES encryption of sixteen bytes 01
    /// (GlobalPlatform Card Specification 2.3.1 §B.6).
    public static func checkValue(of key: borrowing Secret) throws(CryptoFault) -> [UInt8] {
        Array(try BlockCipher.aes.encrypt([UInt8](repeating: 1, count: 16), key: key).prefix(3))
    }
}

/// Secret hexadecimal digits.
enum SecretHex {
    /// Decodes an even number of digits; `nil` for anything else.
    static func decode(_ digits: some Collection<UInt8>) -> Secret? {
        guard digits.count.isMultiple(of: 2), digits.count <= 1024 else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(digits.count / 2)
        defer { Secret.wipe(&bytes) }
        var high: UInt8?
        for digit in digits {
            guard let value = Hex.nibble(digit) else { return nil }
            if let first = high { bytes.append(first << 4 | value) }
            high = high == nil ? value : nil
        }
        return Secret(bytes)
    }
}
