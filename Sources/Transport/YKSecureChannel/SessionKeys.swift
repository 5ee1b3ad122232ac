// SPDX-License-Identifier: Apache-2.0

package import YKCrypto

/// The keys of a secure channel session.
package struct SessionKeys: Sendable {
    /// S-ENC: encrypts the data of commands and replies.
    package let encryption: SharedSecret
    /// S-MAC: authenticates commands.
    package let mac: SharedSecret
    /// S-RMAC: authenticates replies.
    package let responseMAC: SharedSecret
    /// Encrypts keys sent to the card; `nil` when the host has no such key.
    package let dataEncryption: SharedSecret?

    package init(
        encryption: SharedSecret, mac: SharedSecret, responseMAC: SharedSecret, dataEncryption: SharedSecret?
    ) {
        (self.encryption, self.mac) = (encryption, mac)
        (self.responseMAC, self.dataEncryption) = (responseMAC, dataEncryption)
    }

    /// The purpose of a derived value (GlobalPlatform Amendment D §4.1.5, table 4-1).
    package enum Purpose: UInt8 {
        case cardCryptogram = 0x00
        case hostCryptogram = 0x01
        case encryption = 0x04
        case mac = 0x06
        case responseMAC = 0x07
    }

    /// The session keys of SCP03 (GlobalPlatform Amendment D §6.2.1).
    ///
    /// - Parameter context: The host's challenge and the card's, 8 bytes each.
    package init(_ keys: SCP03Keys, context: [UInt8]) throws(CryptoFault) {
        self.init(
            encryption: SharedSecret(try Self.derive(keys.encryption.value, .encryption, context)),
            mac: SharedSecret(try Self.derive(keys.mac.value, .mac, context)),
            responseMAC: SharedSecret(try Self.derive(keys.mac.value, .responseMAC, context)),
            dataEncryption: keys.dataEncryption)
    }

    /// Returns an 8-byte cryptogram under S-MAC, with which a side of SCP03 proves possession of the keys.
    package func cryptogram(_ purpose: Purpose, context: [UInt8]) throws(CryptoFault) -> [UInt8] {
        try Self.derive(mac.value, purpose, context, length: 8).copyBytes()
    }

    private static func derive(
        _ key: borrowing Secret, _ purpose: Purpose, _ context: [UInt8], length: Int = 16
    ) throws(CryptoFault) -> Secret {
        let label = [UInt8](repeating: 0, count: 11) + [purpose.rawValue]
        return try AESCMAC.derive(key, label: label, context: context, length: length)
    }

    /// The keys of an SCP11 session and the one that makes the receipt (GlobalPlatform Amendment F §5.2): 80 bytes of
    /// X9.63 with SHA-256.
    ///
    /// - Parameters:
    ///   - ephemeral: The x coordinate shared by both ephemeral keys.
    ///   - fixed: The x coordinate shared by the static keys; in SCP11b, by the host's ephemeral and the card's static
    ///     key.
    static func scp11(
        ephemeral: borrowing Secret, fixed: borrowing Secret
    ) throws(CryptoFault) -> (keys: SessionKeys, receiptKey: SharedSecret) {
        var joined = ephemeral.copyBytes() + fixed.copyBytes()
        defer { Secret.wipe(&joined) }
        var material = try HashAlgorithm.sha256.x963(
            Secret(joined), sharedInfo: [SCP11.keyUsage, SCP11.keyType, UInt8(SCP03Keys.keySize)], length: 80
        ).copyBytes()
        defer { Secret.wipe(&material) }
        let parts = stride(from: 0, to: 80, by: 16).map { SharedSecret(Secret(material[$0..<($0 + 16)])) }
        return (
            SessionKeys(encryption: parts[1], mac: parts[2], responseMAC: parts[3], dataEncryption: parts[4]), parts[0]
        )
    }
}
