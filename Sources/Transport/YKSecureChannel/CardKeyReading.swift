// SPDX-License-Identifier: Apache-2.0

import YKCrypto
import YKProtocols
import YKTransport
import YKWire
package import YKX509

/// Reads the card's public key for SCP11 from the Security Domain, and decides whether it is trusted.
struct CardKeyReading {
    let card: ClearCommands
    let environment: ServiceEnvironment

    /// The key of a variant: the one with the given version, otherwise the first one.
    func key(
        _ variant: SCP11Variant, _ version: UInt8, _ trust: SCP11Trust
    ) throws(CardError) -> (SCPKeyReference, [UInt8]) {
        try select()
        var reference = SCPKeyReference(id: variant.keyID, version: version)
        if version == 0 { reference = try first(variant) }
        if case .key(let point) = trust { return (reference, point) }
        let chain = try certificates(of: reference)
        guard let last = chain.last else { throw .secureChannel(.noCertificate(reference)) }
        let (leaf, point) = try decoded { () throws(WireError) in
            let leaf = try X509Certificate(der: last)
            return (leaf, try leaf.p256Point)
        }
        if case .authority(let anchor) = trust { try check(leaf, chain, anchor) }
        return (reference, point)
    }

    /// The CA key that verifies the host's first certificate: the one in the certificate's authority key identifier,
    /// otherwise the first with the given KID.
    func authority(of host: SCP11HostKey) throws(CardError) -> SCPKeyReference {
        try select()
        let wanted = try? host.certificates.first.flatMap { try X509Certificate(der: $0).authorityKeyIdentifier }
        if let wanted, let list = try read(SecurityDomainProtocol.Tag.hostAuthorities) {
            let pairs = (try? TLV.list(list)) ?? []
            for (identifier, reference) in zip(pairs, pairs.dropFirst())
            where identifier.tag == 0x42 && identifier.value == wanted && reference.value.count == 2 {
                return SCPKeyReference(id: reference.value[0], version: reference.value[1])
            }
        }
        guard let found = try keys().first(where: { $0.reference.id == host.authority.id }) else {
            throw .secureChannel(.noSuchKey(host.authority))
        }
        return found.reference
    }

    private func select() throws(CardError) {
        switch try card.send(.select(.securityDomain)).status {
        case .ok: return
        case .notFound, .appletSelectFailed, .functionNotSupported, .unknownInstruction:
            throw .appletMissing(.securityDomain)
        case let status: throw .status(status, during: "SELECT \(AID.securityDomain.title)")
        }
    }

    private func first(_ variant: SCP11Variant) throws(CardError) -> SCPKeyReference {
        guard let found = try keys().first(where: { $0.reference.id == variant.keyID }) else {
            throw .secureChannel(.noSuchKey(SCPKeyReference(id: variant.keyID, version: 0)))
        }
        return found.reference
    }

    private func keys() throws(CardError) -> [SCPKeyInformation] {
        let list = try read(SecurityDomainProtocol.Tag.keyInformationObject) ?? []
        return try lift({ CardError.malformed($0, during: "GET DATA (keys)") }) { () throws(WireError) in
            try SCPKeyInformation.list(list)
        }
    }

    private func certificates(of reference: SCPKeyReference) throws(CardError) -> [[UInt8]] {
        let bytes = try read(
            SecurityDomainProtocol.Tag.certificates, SecurityDomainProtocol.control(reference).encoded)
        return try decoded { () throws(WireError) in try X509Certificate.split(bytes ?? []) }
    }

    private func decoded<Value>(_ body: () throws(WireError) -> Value) throws(CardError) -> Value {
        try lift({ CardError.malformed($0, during: "GET DATA (certificates)") }, body)
    }

    private func read(_ tag: UInt16, _ data: [UInt8] = []) throws(CardError) -> [UInt8]? {
        let response = try card.send(GetSecurityData(tag, data: data).apdu)
        switch response.status {
        case .ok: return response.data
        case .referenceNotFound: return nil
        case let status: throw .status(status, during: GetSecurityData.name)
        }
    }

    /// Checks that the chain leads to the anchor, and that the leaf is for key agreement.
    private func check(_ leaf: X509Certificate, _ chain: [[UInt8]], _ anchor: [UInt8]) throws(CardError) {
        if let usage = try decoded({ () throws(WireError) in try leaf.keyUsage }), !usage.contains(.keyAgreement) {
            throw .secureChannel(.untrusted("the card's certificate is not for key agreement"))
        }
        do {
            _ = try CertificatePathCheck(anchors: [anchor], at: environment.clock.now)
                .path(from: leaf.der, others: Array(chain.dropLast()))
        } catch { throw .secureChannel(.untrusted(Self.words(error))) }
    }

    private static func words(_ fault: CertificatePathCheck.Fault) -> String {
        switch fault {
        case .malformed: "a certificate cannot be read"
        case .noIssuer: "the card's certificates do not lead to the given one"
        case .expired(_, let reason), .notAuthority(_, let reason), .refused(_, let reason): reason
        default: "\(fault)"
        }
    }
}

extension X509Certificate {
    /// The public key: 04, x, y of a point on P-256.
    package var p256Point: [UInt8] {
        get throws(WireError) {
            guard case .ec(.p256, let point) = publicKey else {
                throw WireError(.malformed, at: 0, "not a key on P-256")
            }
            return point
        }
    }
}
