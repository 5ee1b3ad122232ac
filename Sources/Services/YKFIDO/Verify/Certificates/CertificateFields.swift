// SPDX-License-Identifier: Apache-2.0

import SwiftASN1

/// Parses the DER of a certificate (RFC 5280 §4.1).
struct CertificateFields {
    var version = 1
    var issuer: [UInt8] = []
    var subject: [UInt8] = []
    var subjectAttributes: [(type: String, value: String)] = []
    var notBefore: Int64 = 0
    var notAfter: Int64 = 0
    var extensions: [String: (isCritical: Bool, value: [UInt8])] = [:]
    var keyAlgorithm = ""
    var keyParameters: String?
    var keyBytes: [UInt8] = []
    private var innerAlgorithm: [UInt8] = []

    /// A missing or misplaced field.
    struct Fault: Error, CustomStringConvertible {
        let what: String
        var description: String { what }
    }

    init(_ der: [UInt8]) throws {
        let certificate = try DER.parse(der).children("the certificate")
        guard certificate.count == 3 else { throw Fault(what: "not three parts") }
        try readContent(certificate[0])
        guard certificate[1].encodedBytes == innerAlgorithm[...] else {
            throw Fault(what: "it names two algorithms of its signature")
        }
        _ = try ASN1BitString(derEncoded: certificate[2])
    }

    private mutating func readContent(_ node: ASN1Node) throws {
        var fields = try node.children("its content")[...]
        if let first = fields.first, first.identifier.tagClass == .contextSpecific {
            version = 1 + Int(try UInt8(derEncoded: try first.tagged("the version")))
            fields = fields.dropFirst()
        }
        // Serial number, signature, issuer, validity, subject, public key.
        guard fields.count >= 6 else { throw Fault(what: "fields are missing") }
        let rest = Array(fields)
        innerAlgorithm = Array(rest[1].encodedBytes)
        issuer = Array(rest[2].encodedBytes)
        try readValidity(rest[3])
        subject = Array(rest[4].encodedBytes)
        subjectAttributes = try Self.attributes(rest[4])
        try readKey(rest[5])
        for field in rest.dropFirst(6) where field.identifier.tagNumber == 3 { try readExtensions(field) }
    }

    private mutating func readValidity(_ node: ASN1Node) throws {
        let times = try node.children("the validity")
        guard times.count == 2 else { throw Fault(what: "the validity") }
        notBefore = try Self.seconds(times[0])
        notAfter = try Self.seconds(times[1])
    }

    private mutating func readKey(_ node: ASN1Node) throws {
        let parts = try node.children("the public key")
        guard parts.count == 2 else { throw Fault(what: "the public key") }
        let algorithm = try parts[0].children("the algorithm")
        guard let identifier = algorithm.first else { throw Fault(what: "the algorithm") }
        keyAlgorithm = try identifier.objectIdentifier
        keyParameters = try? algorithm.dropFirst().first.map { try $0.objectIdentifier }
        keyBytes = Array(try ASN1BitString(derEncoded: parts[1]).bytes)
    }

    private mutating func readExtensions(_ node: ASN1Node) throws {
        for entry in try node.tagged("the extensions").children("the extensions") {
            let parts = try entry.children("an extension")
            guard let identifier = parts.first, let value = parts.last, parts.count >= 2 else { continue }
            let type = try identifier.objectIdentifier
            guard extensions[type] == nil else { throw Fault(what: "the extension \(type) is there twice") }
            let isCritical = parts.count == 3 ? try Bool(derEncoded: parts[1]) : false
            extensions[type] = (isCritical, Array(try ASN1OctetString(derEncoded: value).bytes))
        }
    }
}

extension CertificateFields {
    /// The attributes of a name (RFC 5280 §4.1.2.4), in order.
    static func attributes(_ name: ASN1Node) throws -> [(type: String, value: String)] {
        var attributes: [(type: String, value: String)] = []
        for set in try name.children("a name") {
            for attribute in try set.children("a name", .set) {
                let parts = try attribute.children("a name")
                guard parts.count == 2, case .primitive(let bytes) = parts[1].content else { continue }
                attributes.append((try parts[0].objectIdentifier, String(decoding: bytes, as: UTF8.self)))
            }
        }
        return attributes
    }

    /// Modulus and exponent of an RSA public key (RFC 8017 §A.1.1), without leading zeros.
    static func rsaKey(_ bytes: [UInt8]) throws -> (modulus: [UInt8], exponent: [UInt8]) {
        let parts = try DER.parse(bytes).children("the RSA key")
        guard parts.count == 2, case .primitive(let modulus) = parts[0].content,
            case .primitive(let exponent) = parts[1].content
        else { throw Fault(what: "the RSA key") }
        return (Array(modulus.drop { $0 == 0 }), Array(exponent.drop { $0 == 0 }))
    }

    /// Seconds since 1970 of a UTCTime or GeneralizedTime (RFC 5280 §4.1.2.5).
    private static func seconds(_ node: ASN1Node) throws -> Int64 {
        guard node.identifier == .generalizedTime else {
            let time = try UTCTime(derEncoded: node)
            return seconds(
                time.year, time.month, time.day, (time.hours * 60 + time.minutes) * 60 + time.seconds)
        }
        let time = try GeneralizedTime(derEncoded: node)
        return seconds(time.year, time.month, time.day, (time.hours * 60 + time.minutes) * 60 + time.seconds)
    }

    /// Days are counted from 1 March of year 0, so that the leap day is the last of its year.
    private static func seconds(_ year: Int, _ month: Int, _ day: Int, _ ofDay: Int) -> Int64 {
        let year = month > 2 ? year : year - 1
        let month = (month + 9) % 12
        let days = 365 * year + year / 4 - year / 100 + year / 400 + (month * 306 + 5) / 10 + day - 1
        return Int64(days - 719_468) * 86400 + Int64(ofDay)
    }
}

extension ASN1Node {
    /// The parts of a sequence, or of another constructed value.
    func children(_ what: String, _ identifier: ASN1Identifier = .sequence) throws -> [ASN1Node] {
        guard self.identifier == identifier, case .constructed(let nodes) = content else {
            throw CertificateFields.Fault(what: what)
        }
        return Array(nodes)
    }

    /// The value in an explicit tag (X.690 §8.14).
    func tagged(_ what: String) throws -> ASN1Node {
        guard identifier.tagClass == .contextSpecific, let inner = try children(what, identifier).first else {
            throw CertificateFields.Fault(what: what)
        }
        return inner
    }

    /// The value as an object identifier in dotted form.
    var objectIdentifier: String {
        get throws { try ASN1ObjectIdentifier(derEncoded: self).description }
    }
}
