// SPDX-License-Identifier: Apache-2.0

public import YKCrypto
public import YKTransport
public import YKWire

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

/// Why a key container (RFC 6030) cannot be read.
public enum PSKCError: Error, Hashable, Sendable {
    /// The text is not valid key container XML.
    case malformed(WireError)
    /// An element or attribute is missing or has an unsupported value, which is empty if it could be a secret.
    case field(String, String)
    /// An unsupported algorithm; its name is empty if it is in no known form.
    case unsupportedAlgorithm(String)
    /// The container is encrypted and no key was given.
    case needsKey(PSKCProtection)
    /// The key or passphrase is wrong, or the file was modified.
    case wrongKey
    /// A cryptographic primitive failed on this computer.
    case crypto(CryptoFault)
    /// The operation was cancelled.
    case cancelled

    /// An algorithm that is not supported, quoted if it is an identifier of the standards.
    static func unsupported(_ name: String) -> PSKCError { .unsupportedAlgorithm(Quotable.identifier(name) ?? "") }

    /// An element or attribute with a value that is not supported, quoted if it is a number or a known word.
    static func unusable(_ name: String, _ value: String) -> PSKCError { .field(name, Quotable.name(value) ?? "") }
}

/// How the secrets in a key container are protected.
public enum PSKCProtection: Hashable, Sendable {
    /// Unencrypted.
    case none
    /// With a pre-shared key; its name, if the file has one.
    case presharedKey(name: String?)
    /// With a passphrase.
    case passphrase
}
