// SPDX-License-Identifier: Apache-2.0

public import YKCrypto

/// An OpenSSH private key file for a credential of a FIDO key (PROTOCOL.key, PROTOCOL.u2f). It contains no secret, but
/// it does contain the handle, without which a credential not stored on the key is lost.
public struct SecurityKeyFile: Hashable, Sendable {
    /// The requirements of a credential, and whether the key stores it.
    public struct Flags: OptionSet, Hashable, Sendable {
        /// The raw byte.
        public let rawValue: UInt8
        /// Wraps a byte.
        public init(rawValue: UInt8) { self.rawValue = rawValue }
        /// Each signature requires a touch.
        public static let touchRequired = Flags(rawValue: 0x01)
        /// Each signature requires PIN or fingerprint.
        public static let verificationRequired = Flags(rawValue: 0x04)
        /// The key stores the credential.
        public static let resident = Flags(rawValue: 0x20)
    }

    /// The public key, with its application.
    public var publicKey: SSHPublicKey
    /// The requirements of the credential.
    public var flags: Flags
    /// The credential's identifier.
    public var handle: [UInt8]
    /// The comment.
    public var comment: String

    /// Creates the content of a file.
    public init(publicKey: SSHPublicKey, flags: Flags, handle: [UInt8], comment: String) {
        self.publicKey = publicKey
        self.flags = flags
        self.handle = handle
        self.comment = comment
    }

    /// Whether files with this cipher can be read: only `aes256-ctr`, which ssh-keygen uses by default.
    public static func decrypts(_ cipher: String) -> Bool { cipher == KeyFileProtection.cipher }

    /// Returns the unencrypted file; encryption is unnecessary, since the file contains no secret.
    ///
    /// - Parameter check: Any number; readers compare its two copies.
    public func text(check: UInt32) -> String {
        Self.text("none", "none", [], publicKey, section(check: check, blockSize: 8))
    }

    /// Returns the file under a passphrase.
    ///
    /// - Parameters:
    ///   - check: Any number; readers compare its two copies.
    ///   - passphrase: The passphrase.
    ///   - salt: 16 random bytes.
    /// - Throws: ``SSHError/malformed(_:)`` if the section cannot be encrypted.
    public func text(check: UInt32, passphrase: SharedSecret, salt: [UInt8]) throws(SSHError) -> String {
        let protection = KeyFileProtection(salt: salt)
        let plain = section(check: check, blockSize: KeyFileProtection.blockSize)
        return Self.text(
            KeyFileProtection.cipher, KeyFileProtection.derivation, protection.parameters, publicKey,
            try protection.applied(to: plain, passphrase))
    }

    private func section(check: UInt32, blockSize: Int) -> [UInt8] {
        var section = SSHWriter()
        section.uint32(check)
        section.uint32(check)
        section.append(privateFields)
        section.string(comment)
        var padding: UInt8 = 1
        while !section.bytes.count.isMultiple(of: blockSize) {
            section.byte(padding)
            padding += 1
        }
        return section.bytes
    }

    private static func text(
        _ cipher: String, _ derivation: String, _ parameters: [UInt8], _ publicKey: SSHPublicKey, _ section: [UInt8]
    ) -> String {
        var writer = SSHWriter()
        writer.append(PrivateKeyContainer.magic)
        writer.string(cipher)
        writer.string(derivation)
        writer.string(parameters)
        writer.uint32(1)
        writer.string(publicKey.blob)
        writer.string(section)
        return SSHArmor.encode(PrivateKeyContainer.label, writer.bytes)
    }

    /// The private fields in a file or an agent message: the public blob, flags, handle, and an empty string.
    private var privateFields: [UInt8] {
        var writer = SSHWriter()
        writer.append(publicKey.blob)
        writer.byte(flags.rawValue)
        writer.string(handle)
        writer.string("")
        return writer.bytes
    }

    /// Reads a file.
    ///
    /// - Parameters:
    ///   - text: The content of the file.
    ///   - passphrase: Its passphrase; ignored if it has none.
    /// - Throws: ``SSHError/encrypted(_:)`` without a passphrase, and for ciphers that ``decrypts(_:)`` excludes;
    ///   ``SSHError/wrongPassphrase``; ``SSHError/notInSecurityKey(_:)`` for ordinary private keys, which are never
    ///   parsed; and ``SSHError/malformed(_:)``.
    public init(parsing text: [UInt8], passphrase: SharedSecret? = nil) throws(SSHError) {
        let container = try PrivateKeyContainer(parsing: text, passphrase: passphrase)
        var reader = container.reader
        self = try Self.take(&reader)
        comment = try container.finish(&reader)
        guard publicKey.blob == container.publicBlob else { throw PrivateKeyContainer.isOfAnotherKey }
    }

    /// Reads the private fields of a credential from a longer message. Other private keys are not parsed.
    static func take(_ reader: inout SSHReader) throws(SSHError) -> SecurityKeyFile {
        var start = reader
        let type = try start.text("the type of the key")
        guard type.hasPrefix("sk-") else { throw .notInSecurityKey(type) }
        return try take(&reader, of: try SSHPublicKey.read(&reader))
    }

    /// Reads the private fields of a credential that may have a certificate, as an agent receives them: the point
    /// follows the certificate only for Ed25519 (sshkey_private_serialize, OpenSSH 9.2).
    static func takeCertified(
        _ reader: inout SSHReader
    ) throws(SSHError) -> (file: SecurityKeyFile, certificate: SSHCertificate?) {
        var start = reader
        let type = try start.text("the type of the key")
        guard type.hasPrefix("sk-"), SSHCertificate.isKnown(type: type) else { return (try take(&reader), nil) }
        reader = start
        let certificate = try SSHCertificate(blob: try reader.string("the certificate"))
        guard certificate.type == type else { throw .malformed("'\(type)' before a '\(certificate.type)'") }
        if case .ed25519(let point) = certificate.publicKey.key, try reader.string("the point") != point {
            throw .malformed("a certificate of another key")
        }
        guard try reader.text("the application") == certificate.publicKey.application else {
            throw .malformed("a certificate of another application")
        }
        return (try take(&reader, of: certificate.publicKey), certificate)
    }

    /// Reads the fields after the public key.
    private static func take(_ reader: inout SSHReader, of key: SSHPublicKey) throws(SSHError) -> SecurityKeyFile {
        let flags = Flags(rawValue: try reader.byte("the flags"))
        let handle = try reader.string("the handle")
        _ = try reader.string("the reserved string")
        guard (1...1023).contains(handle.count) else { throw .malformed("a handle of \(handle.count) bytes") }
        return SecurityKeyFile(publicKey: key, flags: flags, handle: handle, comment: "")
    }
}
