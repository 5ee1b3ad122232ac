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

    /// Whether a certificate can issue others (RFC 5280 §4.2.1.9).
    public struct BasicConstraints: Hashable, Sendable {
        /// Whether it is a certificate authority.
        public let isAuthority: Bool
        /// Maximum number of further authorities below it in the path; `nil` for any number.
        public let pathLength: Int?
    }

    /// The permitted uses of a key (RFC 5280 §4.2.1.3); the first bit of the extension is the most significant one.
    public struct KeyUsage: OptionSet, Hashable, Sendable {
        /// The first 16 bits of the extension.
        public let rawValue: UInt16

        /// Wraps the first 16 bits of the extension.
        public init(rawValue: UInt16) { self.rawValue = rawValue }

        /// Signatures other than those on certificates.
        public static let digitalSignature = KeyUsage(rawValue: 0x8000)
        /// Encryption of keys.
        public static let keyEncipherment = KeyUsage(rawValue: 0x2000)
        /// Key agreement.
        public static let keyAgreement = KeyUsage(rawValue: 0x0800)
        /// Signatures on certificates.
        public static let certificateSigning = KeyUsage(rawValue: 0x0400)
    }

    /// The basic constraints; `nil` if it has none.
    public var basicConstraints: BasicConstraints? {
        get throws(WireError) {
            try decoded("2.5.29.19") { reader throws(WireError) in
                var content = try reader.der(0x30, "the basic constraints")
                let isAuthority = content.peek == 0x01 ? try content.derBoolean("the authority flag") : false
                let pathLength = content.isAtEnd ? nil : try content.derNumber("the path length")
                try content.finish("the basic constraints")
                return BasicConstraints(isAuthority: isAuthority, pathLength: pathLength)
            }
        }
    }

    /// The permitted uses of its key; `nil` if it does not specify any.
    public var keyUsage: KeyUsage? {
        get throws(WireError) {
            try decoded("2.5.29.15") { reader throws(WireError) in
                let bits = try reader.derBits("the key usage") + [0, 0]
                return KeyUsage(rawValue: UInt16(bits[0]) << 8 | UInt16(bits[1]))
            }
        }
    }

    /// The purposes of its key (RFC 5280 §4.2.1.12); `nil` if it does not specify any.
    public var extendedKeyUsage: [OID]? {
        get throws(WireError) {
            try decoded("2.5.29.37") { reader throws(WireError) in
                var content = try reader.der(0x30, "the extended key usage")
                var purposes: [OID] = []
                while !content.isAtEnd { purposes.append(try content.derOID("a purpose")) }
                return purposes
            }
        }
    }

    /// Alternative names of the subject (RFC 5280 §4.2.1.6); `nil` if it has none.
    public var alternativeNames: [AlternativeName]? {
        get throws(WireError) {
            try decoded("2.5.29.17") { reader throws(WireError) in
                var content = try reader.der(0x30, "the alternative names")
                return try content.derObjects().map { AlternativeName($0) }
            }
        }
    }

    /// The identifier of its key (RFC 5280 §4.2.1.2); `nil` if it has none.
    public var subjectKeyIdentifier: [UInt8]? {
        get throws(WireError) {
            try decoded("2.5.29.14") { reader throws(WireError) in try reader.derOctets("the key identifier") }
        }
    }

    /// The identifier of its issuer's key (RFC 5280 §4.2.1.1); `nil` if it has none.
    public var authorityKeyIdentifier: [UInt8]? {
        get throws(WireError) {
            try decoded("2.5.29.35") { reader throws(WireError) in
                var content = try reader.der(0x30, "the authority key identifier")
                return try content.derObjects().value(0x80)
            } ?? nil
        }
    }

    /// Decodes the whole value of an extension; returns `nil` if it is absent.
    private func decoded<Value>(
        _ type: OID, _ read: (inout ByteReader) throws(WireError) -> Value
    ) throws(WireError) -> Value? {
        guard let entry = extensions[type] else { return nil }
        var reader = ByteReader(entry.value)
        let value = try read(&reader)
        try reader.finish("the extension \(type)")
        return value
    }
}
