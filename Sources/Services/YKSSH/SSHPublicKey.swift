// SPDX-License-Identifier: Apache-2.0

public import YKCrypto
public import YKWire

/// An SSH public key (RFC 4253 §6.6, RFC 5656 §3.1, RFC 8709 §4, OpenSSH's PROTOCOL.u2f).
public struct SSHPublicKey: Hashable, Sendable {
    /// The key: RSA, a NIST curve or Ed25519.
    public let key: PublicKey
    /// The application of a FIDO credential, such as `ssh:`; `nil` for other keys.
    public let application: String?

    /// Creates a key without an application; `nil` for X25519, which cannot sign, and for curves without an SSH name.
    public init?(_ key: PublicKey) {
        if case .x25519 = key { return nil }
        if case .ec(let curve, _) = key, !Self.curves.contains(curve) { return nil }
        self.key = key
        application = nil
    }

    /// Creates the key of a credential; `nil` unless it is a point on P-256, for ECDSA, or on Ed25519.
    ///
    /// - Parameters:
    ///   - cose: The public key as returned by the authenticator.
    ///   - application: The application of the credential: the identifier of its relying party.
    public init?(cose: COSEKey, application: String) {
        switch cose.material {
        case .ec2(.p256, let x, let y): key = .ec(.p256, point: [0x04] + x + y)
        case .okp(.ed25519, let x): key = .ed25519(x)
        default: return nil
        }
        guard key.isPoint else { return nil }
        self.application = application
    }

    /// The name of the key type.
    public var type: String {
        switch key {
        case .ed25519: application == nil ? "ssh-ed25519" : "sk-ssh-ed25519@openssh.com"
        case .ec(let curve, _):
            application == nil ? "ecdsa-sha2-" + Self.name(of: curve) : "sk-ecdsa-sha2-nistp256@openssh.com"
        case .rsa, .x25519: "ssh-rsa"
        }
    }

    /// The hash function that ECDSA requires for this key; `nil` for RSA, which allows several, and Ed25519, which has
    /// its own.
    public var hash: HashAlgorithm? {
        if case .ec(let curve, _) = key { return curve.hash }
        return nil
    }

    /// The key in wire format.
    public var blob: [UInt8] {
        var writer = SSHWriter()
        writer.string(type)
        switch key {
        case .rsa(let modulus, let exponent):
            writer.number(exponent)
            writer.number(modulus)
        case .ec(let curve, let point):
            writer.string(Self.name(of: curve))
            writer.string(point)
        case .ed25519(let bytes), .x25519(let bytes): writer.string(bytes)
        }
        if let application { writer.string(application) }
        return writer.bytes
    }

    /// Returns the line for `authorized_keys`: type, base64, comment. A comment may come from a key, and a line end in
    /// it could authorize another key, so control characters become underscores.
    public func line(comment: String) -> String {
        let scalars = comment.unicodeScalars.map { $0.isHazardous ? "_" : Character($0) }
        return "\(type) \(Base64.encode(blob))" + (comment.isEmpty ? "" : " \(String(scalars))")
    }

    /// The fingerprint as OpenSSH shows it: `SHA256:` and the digest of the blob in base64 without padding.
    public var fingerprint: String { Self.fingerprint(of: blob) }

    /// Returns the fingerprint of any key's blob.
    public static func fingerprint(of blob: [UInt8]) -> String {
        "SHA256:" + Base64.encode(HashAlgorithm.sha256.hash(blob), padded: false)
    }

    /// Returns the fingerprint of a host key's blob; for a certificate, that of its key.
    public static func fingerprint(ofHost blob: [UInt8]) -> String {
        (try? SSHPublicKey(hostKey: blob))?.fingerprint ?? fingerprint(of: blob)
    }

    /// Reads a blob.
    ///
    /// - Throws: ``SSHError/unsupportedKey(_:)`` for other types, ``SSHError/malformed(_:)``.
    public init(blob: [UInt8]) throws(SSHError) {
        var reader = SSHReader(blob)
        self = try Self.read(&reader)
        try reader.finish("the key")
    }

    /// Returns the application of a FIDO credential from its key or certificate; `nil` for other keys, and empty if it
    /// cannot be read.
    static func application(of blob: [UInt8]) -> [UInt8]? {
        var reader = SSHReader(blob)
        guard let type = try? reader.text("the type of the key"), type.hasPrefix("sk-") else { return nil }
        if type.contains("-cert-") { _ = try? reader.string("the nonce") }
        if type.contains("-ecdsa-") { _ = try? reader.string("the curve") }
        _ = try? reader.string("the point")
        return (try? reader.string("the application")) ?? []
    }

    /// Reads a host key, which may be a certificate; the client checks whether it is trusted.
    init(hostKey blob: [UInt8]) throws(SSHError) {
        var reader = SSHReader(blob)
        if SSHCertificate.isKnown(type: try reader.text("the type of the key")) {
            reader = SSHReader(blob)
            self = try SSHCertificate.subject(&reader)
        } else {
            self = try SSHPublicKey(blob: blob)
        }
    }

    /// Reads a key from a longer message.
    static func read(_ reader: inout SSHReader) throws(SSHError) -> SSHPublicKey {
        let type = try reader.text("the type of the key")
        return try read(&reader, type: type)
    }

    /// The key types that can be read.
    static let types = [
        "ssh-rsa", "ssh-ed25519", "ecdsa-sha2-nistp256", "ecdsa-sha2-nistp384", "ecdsa-sha2-nistp521",
        "sk-ssh-ed25519@openssh.com", "sk-ecdsa-sha2-nistp256@openssh.com",
    ]

    static func isKnown(type: String) -> Bool { types.contains(type) }

    /// Reads a key of this type, whose name has already been read.
    static func read(_ reader: inout SSHReader, type: String) throws(SSHError) -> SSHPublicKey {
        guard isKnown(type: type) else { throw .unsupportedKey(type) }
        let key = try material(&reader, type)
        guard key.isPoint else { throw .malformed("a point that is not on its curve") }
        return SSHPublicKey(key: key, application: type.hasPrefix("sk-") ? try reader.text("the application") : nil)
    }

    private init(key: PublicKey, application: String?) {
        self.key = key
        self.application = application
    }

    private static func material(_ reader: inout SSHReader, _ type: String) throws(SSHError) -> PublicKey {
        if type == "ssh-rsa" {
            let exponent = try reader.number("the exponent")
            let modulus = try reader.number("the modulus")
            let isLong = modulus.count > 128 || modulus.count == 128 && modulus[0] & 0x80 != 0
            guard isLong, modulus.count <= 2048, (1...8).contains(exponent.count) else {
                throw .malformed("an RSA key of \(modulus.count) and \(exponent.count) bytes")
            }
            return .rsa(modulus: modulus, exponent: exponent)
        }
        if type.contains(bytesOf: "ed25519") {
            let bytes = try reader.string("the point")
            guard bytes.count == 32 else { throw .malformed("a point of \(bytes.count) bytes on Ed25519") }
            return .ed25519(bytes)
        }
        let name = try reader.text("the name of the curve")
        let point = try reader.string("the point")
        guard let curve = curves.first(where: { Self.name(of: $0) == name }), type.contains(bytesOf: name) else {
            throw .malformed("curve '\(name)' in a key of type '\(type)'")
        }
        guard point.count == 1 + 2 * curve.fieldSize, point.first == 0x04 else {
            throw .malformed("a point of \(point.count) bytes on \(name)")
        }
        return .ec(curve, point: point)
    }

    /// Reads a `.pub` file or a line of it: type, base64, comment. Empty lines and comments are skipped.
    ///
    /// - Returns: The key and its comment, which is empty if there is none.
    /// - Throws: ``SSHError``, `severalKeys` for lines with different keys.
    public static func parse(line: String) throws(SSHError) -> (key: SSHPublicKey, comment: String) {
        try SSHKeyLine.read(line, what: "a public key") { words throws(SSHError) in
            guard let blob = try? Base64.decode(words[1]) else { throw .malformed("the key is not base64") }
            let key = try SSHPublicKey(blob: blob)
            guard key.type == words[0] else { throw .malformed("'\(words[0])' before a key of type '\(key.type)'") }
            return key
        }
    }

    /// The curves of RFC 5656 §10.1; keys on other curves cannot be created.
    private static let curves: [VerificationKey.Curve] = [.p256, .p384, .p521]

    private static func name(of curve: VerificationKey.Curve) -> String {
        curve == .p256 ? "nistp256" : curve == .p384 ? "nistp384" : "nistp521"
    }
}
