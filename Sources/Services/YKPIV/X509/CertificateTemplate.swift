// SPDX-License-Identifier: Apache-2.0

public import YKCrypto
import YKWire

/// The contents of a self-signed certificate or a request.
public struct CertificateTemplate: Sendable {
    /// The subject.
    public var subject: SubjectName
    /// The subject alternative names.
    public var alternativeNames: [AlternativeName]
    /// The hash of the signature; Ed25519 ignores it.
    public var hash: HashAlgorithm
    /// The key's policies, for programs that look for them in the certificate (Yubico, 1.3.6.1.4.1.41482.3.8).
    public var policies: KeyPolicies?

    /// Creates a template.
    public init(
        subject: SubjectName, alternativeNames: [AlternativeName] = [], hash: HashAlgorithm = .sha256,
        policies: KeyPolicies? = nil
    ) {
        self.subject = subject
        self.alternativeNames = alternativeNames
        self.hash = hash
        self.policies = policies
    }

    /// The part of a self-signed certificate that is signed (RFC 5280 §4.1.2).
    func certificateContent(
        _ key: PublicKey, _ algorithm: SignatureAlgorithm, serial: [UInt8], from start: Int64, to end: Int64
    ) throws(PIVError) -> [UInt8] {
        guard let start = DERTime.object(start), let end = DERTime.object(end) else {
            throw .badInput("a certificate is valid between the years 1950 and 9999")
        }
        var parts = [
            TLV(0xA0, TLV(0x02, [2]).encoded).encoded, TLV(0x02, serial).encoded, algorithm.der, subject.encoded,
            TLV(0x30, start.encoded + end.encoded).encoded, subject.encoded, key.subjectPublicKeyInfo,
        ]
        let extensions = extensions()
        if !extensions.isEmpty { parts.append(TLV(0xA3, extensions).encoded) }
        return TLV(0x30, Array(parts.joined())).encoded
    }

    /// The part of a request that is signed (RFC 2986 §4.1).
    func requestContent(_ key: PublicKey) -> [UInt8] {
        var attributes: [UInt8] = []
        let extensions = extensions()
        if !extensions.isEmpty {
            let name = TLV(0x06, [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x09, 0x0E]).encoded
            attributes = TLV(0x30, name + TLV(0x31, extensions).encoded).encoded
        }
        let parts = [TLV(0x02, [0]).encoded, subject.encoded, key.subjectPublicKeyInfo, TLV(0xA0, attributes).encoded]
        return TLV(0x30, Array(parts.joined())).encoded
    }

    /// Assembles the signed content, its algorithm and its signature.
    static func signed(_ content: [UInt8], _ algorithm: SignatureAlgorithm, _ signature: [UInt8]) -> [UInt8] {
        TLV(0x30, content + algorithm.der + TLV(0x03, [0] + signature).encoded).encoded
    }

    private func extensions() -> [UInt8] {
        var entries: [UInt8] = []
        func add(_ identifier: [UInt8], _ value: [UInt8]) {
            entries += TLV(0x30, TLV(0x06, identifier).encoded + TLV(0x04, value).encoded).encoded
        }
        if !alternativeNames.isEmpty { add([0x55, 0x1D, 0x11], AlternativeName.encoded(alternativeNames)) }
        if let policies {
            let identifier: [UInt8] = [0x2B, 0x06, 0x01, 0x04, 0x01, 0x82, 0xC4, 0x0A, 0x03, 0x08]
            add(identifier, [policies.pin.rawValue, policies.touch.rawValue])
        }
        return entries.isEmpty ? [] : TLV(0x30, entries).encoded
    }
}
