// SPDX-License-Identifier: Apache-2.0

public import YKCrypto
public import YKWire

/// A certificate request (PKCS#10, RFC 2986). Unknown attributes and kinds of keys are accepted.
public struct CertificateRequest: Hashable, Sendable {
    /// The whole request, DER.
    public let der: [UInt8]
    /// The part that is signed (CertificationRequestInfo), DER.
    public let signedPart: [UInt8]
    /// The subject.
    public let subject: DistinguishedName
    /// The subject's public key.
    public let subjectPublicKeyInfo: SubjectPublicKeyInfo
    /// The requested extensions.
    public let extensions: [OID: X509Certificate.Extension]
    /// The algorithm of the signature.
    public let signatureAlgorithm: AlgorithmIdentifier
    /// The signature by the subject's key over ``signedPart``.
    public let signature: [UInt8]

    /// Maximum size in bytes.
    private static let limit = 1 << 20
    /// The attributes that request extensions: PKCS #9's, and the one of older Windows.
    private static let requests: [OID] = ["1.2.840.113549.1.9.14", "1.3.6.1.4.1.311.2.1.14"]

    /// Reads a request, DER. Its signature is not verified.
    ///
    /// - Throws: `WireError` if it is malformed, longer than 1 MiB or followed by other bytes, or requests extensions
    ///   twice.
    public init(der: [UInt8]) throws(WireError) {
        guard der.count <= Self.limit else { throw WireError(.tooLarge, at: 0, "a request of \(der.count) bytes") }
        self.der = der
        var outer = ByteReader(der)
        var request = try outer.der(0x30, "a request")
        try outer.finish("the request")
        signedPart = try request.derSequence("the request's content")
        signatureAlgorithm = try AlgorithmIdentifier(&request, "the signature algorithm")
        signature = try request.derBits("the signature")
        try request.finish("the request")

        var content = ByteReader(signedPart)
        var body = try content.der(0x30, "the request's content")
        _ = try body.derNumber("the version")
        subject = try DistinguishedName(der: try body.derSequence("the subject"))
        subjectPublicKeyInfo = try SubjectPublicKeyInfo(&body)
        extensions = body.isAtEnd ? [:] : try Self.extensions(&body)
        try body.finish("the request's content")
    }

    private static func extensions(_ body: inout ByteReader) throws(WireError) -> [OID: X509Certificate.Extension] {
        var list = try body.der(0xA0, "the attributes")
        var found: [OID: X509Certificate.Extension]?
        while !list.isAtEnd {
            let start = list.offset
            var attribute = try list.der(0x30, "an attribute")
            guard requests.contains(try attribute.derOID("the type of an attribute")) else { continue }
            guard found == nil else { throw WireError(.duplicate, at: start, "extensions are requested twice") }
            var values = try attribute.der(0x31, "the values of an attribute")
            found = try X509Certificate.extensions(in: &values)
            try values.finish("the values of an attribute")
        }
        return found ?? [:]
    }

    /// The public key; `nil` for unsupported kinds.
    public var publicKey: PublicKey? { try? PublicKey(subjectPublicKeyInfo: subjectPublicKeyInfo.encoded) }

    /// Whether the subject's own key signed the request; false for unknown algorithms.
    public var isSigned: Bool {
        guard let algorithm = SignatureAlgorithm(der: signatureAlgorithm.encoded), let publicKey else { return false }
        return publicKey.isValid(signature, for: signedPart, algorithm.hash)
    }
}
