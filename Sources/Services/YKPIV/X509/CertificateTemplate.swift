// SPDX-License-Identifier: Apache-2.0

public import YKCrypto
import YKWire
public import YKX509

/// The contents of a self-signed certificate or a request.
public struct CertificateTemplate: Sendable {
    /// The subject.
    public var subject: DistinguishedName
    /// The subject alternative names.
    public var alternativeNames: [AlternativeName]
    /// The hash of the signature; Ed25519 ignores it.
    public var hash: HashAlgorithm
    /// The key's policies, for programs that read them from the certificate (Yubico, 1.3.6.1.4.1.41482.3.8).
    public var policies: KeyPolicies?
    /// The attestation of the key and the certificate in F9 that signed it, both DER, for authorities that require proof
    /// of hardware (1.3.6.1.4.1.41482.3.11 and .3.2, as yubico-piv-tool writes them).
    public var attestation: (statement: [UInt8], device: [UInt8])?

    /// Creates a template.
    public init(
        subject: DistinguishedName, alternativeNames: [AlternativeName] = [], hash: HashAlgorithm = .sha256,
        policies: KeyPolicies? = nil, attestation: (statement: [UInt8], device: [UInt8])? = nil
    ) {
        self.subject = subject
        self.alternativeNames = alternativeNames
        self.hash = hash
        self.policies = policies
        self.attestation = attestation
    }

    /// The extensions with an attestation and the device's certificate; powershellYK uses 1 for the attestation.
    package static let attestationFields: [OID] = [
        "1.3.6.1.4.1.41482.3.11", "1.3.6.1.4.1.41482.3.2", "1.3.6.1.4.1.41482.3.1",
    ]

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
            let extensionRequest: OID = "1.2.840.113549.1.9.14"
            attributes = TLV(0x30, extensionRequest.encoded + TLV(0x31, extensions).encoded).encoded
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
        func add(_ type: OID, _ value: [UInt8]) {
            entries += TLV(0x30, type.encoded + TLV(0x04, value).encoded).encoded
        }
        if !alternativeNames.isEmpty { add("2.5.29.17", AlternativeName.encoded(alternativeNames)) }
        if let policies { add(KeyPolicies.certificateField, [policies.pin.rawValue, policies.touch.rawValue]) }
        if let attestation {
            add(Self.attestationFields[0], attestation.statement)
            add(Self.attestationFields[1], attestation.device)
        }
        return entries.isEmpty ? [] : TLV(0x30, entries).encoded
    }
}

extension KeyPolicies {
    /// The extension with the policies of a key (Yubico, "PIV attestation").
    static let certificateField: OID = "1.3.6.1.4.1.41482.3.8"

    /// Reads the value of the extension: PIN policy, touch policy.
    init?(certificateField value: [UInt8]) {
        guard value.count == 2 else { return nil }
        self.init(pin: PINPolicy(rawValue: value[0]), touch: TouchPolicy(rawValue: value[1]))
    }

    /// The policies in a certificate; `nil` if it has none.
    package init?(_ certificate: X509Certificate) {
        guard let field = certificate.extensions[Self.certificateField] else { return nil }
        self.init(certificateField: field.value)
    }
}
