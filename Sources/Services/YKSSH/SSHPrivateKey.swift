// SPDX-License-Identifier: Apache-2.0

public import YKCrypto

/// An ordinary private key in a file of OpenSSH (PROTOCOL.key), to be imported into a security key.
public struct SSHPrivateKey: Sendable {
    /// The key: RSA, a NIST curve or Ed25519.
    public let key: PrivateKey
    /// The comment.
    public let comment: String

    /// Reads a file.
    ///
    /// - Parameters:
    ///   - text: The content of the file.
    ///   - passphrase: Its passphrase; ignored if it has none.
    /// - Throws: ``SSHError/encrypted(_:)`` without a passphrase, and for ciphers that
    ///   ``SecurityKeyFile/decrypts(_:)`` excludes; ``SSHError/wrongPassphrase``; ``SSHError/unsupportedKey(_:)`` for
    ///   credentials of security keys, DSA and other types; and ``SSHError/malformed(_:)``.
    public init(parsing text: [UInt8], passphrase: SharedSecret? = nil) throws(SSHError) {
        let container = try PrivateKeyContainer(parsing: text, passphrase: passphrase)
        var reader = container.reader
        let type = try reader.text("the type of the key")
        switch type {
        case "ssh-ed25519": key = try Self.ed25519(&reader)
        case "ssh-rsa": key = try Self.rsa(&reader)
        case "ecdsa-sha2-nistp256": key = try Self.ecdsa(&reader, .p256)
        case "ecdsa-sha2-nistp384": key = try Self.ecdsa(&reader, .p384)
        case "ecdsa-sha2-nistp521": key = try Self.ecdsa(&reader, .p521)
        default: throw .unsupportedKey(type)
        }
        comment = try container.finish(&reader)
        guard SSHPublicKey(key.publicKey)?.blob == container.publicBlob else {
            throw PrivateKeyContainer.isOfAnotherKey
        }
    }

    /// The public key, and the seed followed by the public key again.
    private static func ed25519(_ reader: inout SSHReader) throws(SSHError) -> PrivateKey {
        _ = try reader.string("the public key")
        var bytes = try reader.string("the private key")
        defer { Secret.wipe(&bytes) }
        guard bytes.count == 64 else { throw .malformed("a private key of \(bytes.count) bytes on Ed25519") }
        return try made { () throws(CryptoFault) in try PrivateKey(ed25519: Secret(bytes[..<32])) }
    }

    private static func ecdsa(
        _ reader: inout SSHReader, _ curve: VerificationKey.Curve
    ) throws(SSHError) -> PrivateKey {
        _ = try reader.string("the name of the curve")
        _ = try reader.string("the point")
        var scalar = try reader.number("the private scalar")
        defer { Secret.wipe(&scalar) }
        return try made { () throws(CryptoFault) in try PrivateKey(curve, scalar: Secret(scalar)) }
    }

    /// Modulus, exponents, the inverse of q modulo p, p and q, from which the rest of the key follows.
    private static func rsa(_ reader: inout SSHReader) throws(SSHError) -> PrivateKey {
        _ = try reader.number("the modulus")
        guard try reader.number("the exponent") == [1, 0, 1] else {
            throw .unsupportedKey("ssh-rsa with an exponent other than 65537")
        }
        var exponent = try reader.string("the private exponent")
        var inverse = try reader.string("the inverse")
        var first = try reader.number("the first prime")
        var second = try reader.number("the second prime")
        defer {
            Secret.wipe(&exponent)
            Secret.wipe(&inverse)
            Secret.wipe(&first)
            Secret.wipe(&second)
        }
        return try made { () throws(CryptoFault) in try PrivateKey(primes: first, second) }
    }

    private static func made(_ make: () throws(CryptoFault) -> PrivateKey) throws(SSHError) -> PrivateKey {
        do { return try make() } catch { throw .malformed("\(error)") }
    }
}
