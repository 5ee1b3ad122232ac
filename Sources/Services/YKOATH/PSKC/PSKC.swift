// SPDX-License-Identifier: Apache-2.0

import YKCrypto
public import YKTransport
import YKWire

/// A portable symmetric key container (RFC 6030): a file with the OATH accounts of one or more devices.
public struct PSKC: Sendable {
    /// One key of a container, or why it is not a usable account.
    public struct Key: Sendable {
        /// The identifier in the file.
        public let id: String
        /// The serial number of its device, if the file has one.
        public let serial: String?
        /// The account.
        public let account: Result<NewOATHAccount, PSKCError>
    }

    /// How the secrets are protected.
    public let protection: PSKCProtection
    /// The keys in order.
    public let keys: [Key]

    /// Whether a file looks like a key container.
    public static func matches(_ bytes: [UInt8]) -> Bool {
        let start = Array(bytes.prefix(4096))
        let text = TextFile.decode(start) ?? String(decoding: start, as: UTF8.self)
        return text.trimmed.hasPrefix("<") && text.contains(bytesOf: "KeyContainer")
    }

    /// Returns how the secrets of a file are protected, without decrypting any.
    public static func protection(of bytes: [UInt8]) throws(PSKCError) -> PSKCProtection {
        try PSKCCipher.protection(of: try container(bytes))
    }

    /// Reads a file and decrypts its secrets.
    ///
    /// Supports AES-128, -192 and -256 in CBC mode and as key wrapping (RFC 3394, RFC 5649), with a pre-shared key or a
    /// key that PBKDF2 derives from a passphrase; message authentication codes are verified first. A key with an
    /// algorithm other than HOTP and TOTP carries its error.
    ///
    /// - Parameters:
    ///   - bytes: The whole file.
    ///   - unlocking: The key or passphrase of an encrypted file.
    ///   - cancellation: Ends the derivation of a key.
    /// - Throws: `needsKey` if the file is encrypted and `unlocking` is `nil`, and `wrongKey` if a code does not
    ///   verify.
    public init(
        parsing bytes: [UInt8], unlocking: PSKCUnlocking? = nil, cancellation: Cancellation = Cancellation()
    ) throws(PSKCError) {
        let container = try Self.container(bytes)
        protection = try PSKCCipher.protection(of: container)
        let cipher = try PSKCCipher(container, unlocking: unlocking, cancellation)
        var keys: [Key] = []
        for package in container.all("KeyPackage") {
            let serial = package.first("DeviceInfo")?.value("SerialNo")
            for key in package.all("Key") { keys.append(try Self.key(key, serial: serial, cipher: cipher)) }
        }
        self.keys = keys
    }

    private static func container(_ bytes: [UInt8]) throws(PSKCError) -> XMLNode {
        let root = try lift(PSKCError.malformed) { () throws(WireError) in try XMLParser.parse(bytes) }
        guard root.name == "KeyContainer" else { throw .field("KeyContainer", "") }
        return root
    }

    private static func key(_ node: XMLNode, serial: String?, cipher: PSKCCipher?) throws(PSKCError) -> Key {
        let account: Result<NewOATHAccount, PSKCError>
        do { account = .success(try PSKCKeyReader(node: node, serial: serial, cipher: cipher).account()) } catch {
            if case .wrongKey = error { throw error }
            if case .needsKey = error { throw error }
            account = .failure(error)
        }
        return Key(id: node.attributes["Id"] ?? "", serial: serial, account: account)
    }
}
