// SPDX-License-Identifier: Apache-2.0

public import YKCrypto
public import YKWire

/// An X.509 certificate (RFC 5280 §4.1). Unknown kinds of keys, names and extensions are accepted.
public struct X509Certificate: Hashable, Sendable {
    /// One extension.
    public struct Extension: Hashable, Sendable {
        /// Whether a program that does not know it must reject the certificate.
        public let isCritical: Bool
        /// The value, usually DER.
        public let value: [UInt8]
    }

    /// The whole certificate, DER.
    public let der: [UInt8]
    /// The part that is signed (TBSCertificate), DER.
    public let signedPart: [UInt8]
    /// The version, 3 for a certificate with extensions.
    public let version: Int
    /// The serial number, most significant byte first.
    public let serial: [UInt8]
    /// The algorithm of the issuer's signature.
    public let signatureAlgorithm: AlgorithmIdentifier
    /// The issuer.
    public let issuer: DistinguishedName
    /// The start of its validity, in seconds since 1970-01-01 00:00 UTC.
    public let notBefore: Int64
    /// The end of its validity, in seconds since 1970-01-01 00:00 UTC.
    public let notAfter: Int64
    /// The subject.
    public let subject: DistinguishedName
    /// The subject's public key.
    public let subjectPublicKeyInfo: SubjectPublicKeyInfo
    /// The extensions.
    public let extensions: [OID: Extension]
    /// The issuer's signature over ``signedPart``.
    public let signature: [UInt8]

    /// Maximum size in bytes.
    private static let limit = 1 << 20

    /// Reads a certificate, DER. The values of its extensions are decoded on access.
    ///
    /// - Throws: `WireError` if it is malformed, longer than 1 MiB or followed by other bytes, has an extension twice,
    ///   or names two different signature algorithms.
    public init(der: [UInt8]) throws(WireError) {
        guard der.count <= Self.limit else { throw WireError(.tooLarge, at: 0, "a certificate of \(der.count) bytes") }
        self.der = der
        var outer = ByteReader(der)
        var certificate = try outer.der(0x30, "a certificate")
        try outer.finish("the certificate")
        signedPart = try certificate.derSequence("the certificate's content")
        let place = certificate.offset
        signatureAlgorithm = try AlgorithmIdentifier(&certificate, "the signature algorithm")
        signature = try certificate.derBits("the signature")
        try certificate.finish("the certificate")

        var content = ByteReader(signedPart)
        var body = try content.der(0x30, "the certificate's content")
        version = 1 + (try Self.version(&body))
        serial = try body.derInteger("the serial number")
        guard try AlgorithmIdentifier(&body, "the signature algorithm").means(signatureAlgorithm) else {
            throw WireError(.malformed, at: place, "two different signature algorithms")
        }
        issuer = try DistinguishedName(der: try body.derSequence("the issuer"))
        var validity = try body.der(0x30, "the validity")
        notBefore = try Self.time(&validity)
        notAfter = try Self.time(&validity)
        try validity.finish("the validity")
        subject = try DistinguishedName(der: try body.derSequence("the subject"))
        subjectPublicKeyInfo = try SubjectPublicKeyInfo(&body)
        for tag: TLV.Tag in [0x81, 0x82] where body.peek == UInt8(tag.rawValue) {
            _ = try body.der(tag, "a unique identifier")
        }
        extensions = body.isAtEnd ? [:] : try Self.extensions(&body)
        try body.finish("the certificate's content")
    }

    private static func version(_ body: inout ByteReader) throws(WireError) -> Int {
        guard body.peek == 0xA0 else { return 0 }
        var field = try body.der(0xA0, "the version")
        let version = try field.derNumber("the version")
        try field.finish("the version")
        return version
    }

    private static func time(_ reader: inout ByteReader) throws(WireError) -> Int64 {
        let start = reader.offset
        guard let time = DERTime.seconds(try reader.der()) else { throw WireError(.malformed, at: start, "not a time") }
        return time
    }

    private static func extensions(_ body: inout ByteReader) throws(WireError) -> [OID: Extension] {
        var field = try body.der(0xA3, "the extensions")
        let found = try extensions(in: &field)
        try field.finish("the extensions")
        return found
    }

    /// Reads a list of extensions (RFC 5280 §4.1).
    static func extensions(in field: inout ByteReader) throws(WireError) -> [OID: Extension] {
        var list = try field.der(0x30, "the extensions")
        var found: [OID: Extension] = [:]
        while !list.isAtEnd {
            let start = list.offset
            var entry = try list.der(0x30, "an extension")
            let type = try entry.derOID("the type of an extension")
            let isCritical = entry.peek == 0x01 ? try entry.derBoolean("whether an extension is critical") : false
            let value = try entry.derOctets("the value of an extension")
            try entry.finish("the extension")
            guard found.updateValue(Extension(isCritical: isCritical, value: value), forKey: type) == nil else {
                throw WireError(.duplicate, at: start, "the extension \(type) occurs twice")
            }
        }
        return found
    }

    /// Splits concatenated certificates.
    ///
    /// - Returns: The unmodified certificates, at most 16; only their outermost lengths are checked.
    /// - Throws: `WireError` for other bytes, and for more than 16.
    public static func split(_ bytes: [UInt8]) throws(WireError) -> [[UInt8]] {
        var reader = ByteReader(bytes)
        var found: [[UInt8]] = []
        while !reader.isAtEnd {
            let start = reader.offset
            _ = try reader.tlv(0x30, "a certificate")
            guard found.count < 16 else { throw WireError(.tooLarge, at: start, "more than 16 certificates") }
            found.append(Array(bytes[start..<reader.offset]))
        }
        return found
    }
}

extension X509Certificate {
    /// The public key; `nil` for unsupported kinds.
    public var publicKey: PublicKey? { try? PublicKey(subjectPublicKeyInfo: subjectPublicKeyInfo.encoded) }

    /// SHA-256 of the whole certificate.
    public var fingerprint: [UInt8] { HashAlgorithm.sha256.hash(der) }

    /// Returns whether it is signed with the private half of a key; false for unknown algorithms.
    public func isSigned(by key: PublicKey) -> Bool {
        guard let algorithm = SignatureAlgorithm(der: signatureAlgorithm.encoded) else { return false }
        return key.isValid(signature, for: signedPart, algorithm.hash)
    }

    /// Whether two certificates are the same bytes.
    public static func == (left: X509Certificate, right: X509Certificate) -> Bool { left.der == right.der }

    /// Hashes the bytes of the certificate.
    public func hash(into hasher: inout Hasher) { hasher.combine(der) }
}
