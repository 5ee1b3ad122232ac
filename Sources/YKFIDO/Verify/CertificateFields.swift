// SPDX-License-Identifier: Apache-2.0

import SwiftASN1

/// Walks the DER of a certificate (RFC 5280 §4.1).
struct CertificateFields {
    var version = 1
    var subject: [(type: String, value: String)] = []
    var extensions: [String: (isCritical: Bool, value: [UInt8])] = [:]
    var keyAlgorithm = ""
    var keyParameters: String?
    var keyBytes: [UInt8] = []

    /// Something that is not where it has to be.
    struct Fault: Error {
        let what: String
    }

    init(_ der: [UInt8]) throws {
        let certificate = try Self.children(try DER.parse(der), "the certificate")
        guard certificate.count == 3 else { throw Fault(what: "not three parts") }
        var fields = try Self.children(certificate[0], "its content")[...]
        if let first = fields.first, first.identifier.tagClass == .contextSpecific {
            version = 1 + Int(try Self.children(first, "the version").first.map { try UInt8(derEncoded: $0) } ?? 0)
            fields = fields.dropFirst()
        }
        // Serial number, signature, issuer, validity, subject, public key.
        guard fields.count >= 6 else { throw Fault(what: "fields are missing") }
        let rest = Array(fields)
        subject = try Self.attributes(rest[4])
        try readKey(rest[5])
        for field in rest.dropFirst(6) where field.identifier.tagNumber == 3 { try readExtensions(field) }
    }

    private mutating func readKey(_ node: ASN1Node) throws {
        let parts = try Self.children(node, "the public key")
        guard parts.count == 2 else { throw Fault(what: "the public key") }
        let algorithm = try Self.children(parts[0], "the algorithm")
        guard let identifier = algorithm.first else { throw Fault(what: "the algorithm") }
        keyAlgorithm = try ASN1ObjectIdentifier(derEncoded: identifier).description
        keyParameters = try? algorithm.dropFirst().first.map { try ASN1ObjectIdentifier(derEncoded: $0).description }
        keyBytes = Array(try ASN1BitString(derEncoded: parts[1]).bytes)
    }

    private mutating func readExtensions(_ node: ASN1Node) throws {
        guard let list = try Self.children(node, "the extensions").first else { return }
        for entry in try Self.children(list, "the extensions") {
            let parts = try Self.children(entry, "an extension")
            guard let identifier = parts.first, let value = parts.last, parts.count >= 2 else { continue }
            let isCritical = parts.count == 3 ? try Bool(derEncoded: parts[1]) : false
            extensions[try ASN1ObjectIdentifier(derEncoded: identifier).description] = (
                isCritical, Array(try ASN1OctetString(derEncoded: value).bytes)
            )
        }
    }

    private static func attributes(_ name: ASN1Node) throws -> [(type: String, value: String)] {
        var attributes: [(type: String, value: String)] = []
        for set in try children(name, "the subject") {
            for attribute in try children(set, "the subject") {
                let parts = try children(attribute, "the subject")
                guard parts.count == 2, case .primitive(let bytes) = parts[1].content else { continue }
                let type = try ASN1ObjectIdentifier(derEncoded: parts[0]).description
                attributes.append((type, String(decoding: bytes, as: UTF8.self)))
            }
        }
        return attributes
    }

    /// Modulus and exponent of an RSA public key (RFC 8017 §A.1.1), without leading zeros.
    static func rsaKey(_ bytes: [UInt8]) throws -> (modulus: [UInt8], exponent: [UInt8]) {
        let parts = try children(try DER.parse(bytes), "the RSA key")
        guard parts.count == 2, case .primitive(let modulus) = parts[0].content,
            case .primitive(let exponent) = parts[1].content
        else { throw Fault(what: "the RSA key") }
        return (Array(modulus.drop { $0 == 0 }), Array(exponent.drop { $0 == 0 }))
    }

    private static func children(_ node: ASN1Node, _ what: String) throws -> [ASN1Node] {
        guard case .constructed(let nodes) = node.content else { throw Fault(what: what) }
        return Array(nodes)
    }
}
