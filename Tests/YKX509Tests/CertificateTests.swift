// SPDX-License-Identifier: Apache-2.0

import Testing
import YKCrypto
import YKTestSupport
import YKWire
import YKX509

struct CertificateTests {
    @Test func readsEachField() throws {
        let sample = Sample(
            serial: TLV(0x02, [0x00, 0x80]), identifiers: [TLV(0x81, [0, 1]), TLV(0x82, [0, 2])],
            extensions: [
                Sample.entry("2.5.29.19", [0x30, 0x06, 0x01, 0x01, 0xFF, 0x02, 0x01, 0x03], isCritical: true),
                Sample.entry("1.2.3", [7]),
            ])
        let certificate = try X509Certificate(der: sample.der)
        #expect(certificate.der == sample.der && certificate.signedPart == sample.signedPart)
        #expect(certificate.version == 3 && certificate.serial == [0x00, 0x80])
        expect(certificate.signatureAlgorithm.encoded, is: Sample.ed25519)
        expect(certificate.signatureAlgorithm.type, is: "1.3.101.112")
        expect(certificate.signatureAlgorithm.parameters, is: nil)
        #expect(certificate.issuer.description == "CN=CA" && certificate.subject.description == "CN=Alice")
        expect(certificate.issuer.encoded, is: sample.issuer)
        #expect(certificate.notBefore == 1_704_067_200 && certificate.notAfter == 3_281_990_400)
        expect(certificate.publicKey, is: .ed25519([UInt8](repeating: 9, count: 32)))
        expect(certificate.subjectPublicKeyInfo.encoded, is: sample.key)
        expect(certificate.subjectPublicKeyInfo.key, is: [UInt8](repeating: 9, count: 32))
        expect(certificate.extensions["2.5.29.19"]?.isCritical, is: true)
        #expect(certificate.extensions["1.2.3"]?.isCritical == false && certificate.extensions["1.2.3"]?.value == [7])
        expect(certificate.signature, is: [1, 2])
        expect(certificate.fingerprint, is: HashAlgorithm.sha256.hash(sample.der))
        try expect(
            Set([certificate, X509Certificate(der: sample.der), X509Certificate(der: Sample().der)]).count, is: 2)
        try expect(X509Certificate(der: Sample(version: []).der).version, is: 1)
    }

    static let malformed: [(String, Sample)] = [
        ("bytes after the validity", Sample(validity: Sample().validity + [TLV(0x05, [])])),
        ("one time", Sample(validity: [TLV(0x17, Array("240101000000Z".utf8))])),
        ("a time of another type", Sample(validity: [TLV(0x16, Array("240101000000Z".utf8)), Sample().validity[1]])),
        ("an empty serial number", Sample(serial: TLV(0x02, []))),
        ("a long serial number", Sample(serial: TLV(0x02, [0x00, 0x01]))),
        ("a long negative serial number", Sample(serial: TLV(0x02, [0xFF, 0x80]))),
        ("a version of two numbers", Sample(version: TLV(0xA0, [0x02, 0x01, 0x02, 0x02, 0x01, 0x02]).encoded)),
        ("a negative version", Sample(version: TLV(0xA0, [0x02, 0x01, 0xFF]).encoded)),
        ("a version of five bytes", Sample(version: TLV(0xA0, [0x02, 0x05, 1, 1, 1, 1, 1]).encoded)),
        ("two algorithms", Sample(outerAlgorithm: [0x30, 0x05, 0x06, 0x03, 0x2B, 0x65, 0x71])),
        ("an algorithm of three parts", Sample(algorithm: [0x30, 0x06, 0x06, 0x00, 0x05, 0x00, 0x05, 0x00])),
        ("an issuer of sequences", Sample(issuer: [0x30, 0x02, 0x30, 0x00])),
        (
            "an attribute of three parts",
            Sample(issuer: TLV(0x30, [0x31, 0x09, 0x30, 0x07, 6, 1, 42, 5, 0, 5, 0]).encoded)
        ),
        ("an attribute without value", Sample(subject: [0x30, 0x07, 0x31, 0x05, 0x30, 0x03, 0x06, 0x01, 0x2A])),
        ("a subject that is a set", Sample(subject: [0x31, 0x00])),
        ("a key without bits", Sample(key: TLV(0x30, Sample.ed25519).encoded)),
        ("a key with three parts", Sample(key: TLV(0x30, Sample.ed25519 + [3, 1, 0, 5, 0]).encoded)),
        ("eight unused bits", Sample(signature: [0x08, 0x00])),
        ("unused bits that are set", Sample(signature: [0x01, 0x01])),
        ("unused bits of nothing", Sample(signature: [0x01])),
        ("no number of unused bits", Sample(signature: [])),
        ("a field after the extensions", Sample(extensions: [Sample.entry("1.2.3", [])], extra: [0x05, 0x00])),
        ("a field in the extensions' place", Sample(extra: [0xA4, 0x00])),
        ("an extension twice", Sample(extensions: [Sample.entry("1.2.3", []), Sample.entry("1.2.3", [1])])),
        ("an extension without value", Sample(extensions: [TLV(0x30, OID("1.2.3").encoded).encoded])),
        ("an extension of an unknown kind", Sample(extensions: [TLV(0x30, [0x06, 0x00, 0x04, 0x00]).encoded])),
        ("an extension of four parts", Sample(extensions: [TLV(0x30, [6, 1, 42, 4, 0, 5, 0]).encoded])),
        ("a boolean of two bytes", Sample(extensions: [TLV(0x30, [6, 1, 42, 1, 2, 1, 1, 4, 0]).encoded])),
        ("extensions in a set", Sample(extra: [0xA3, 0x02, 0x31, 0x00])),
        ("two lists of extensions", Sample(extra: [0xA3, 0x04, 0x30, 0x00, 0x30, 0x00])),
    ]

    @Test(arguments: malformed.indices)
    func refuses(_ index: Int) {
        let (what, sample) = Self.malformed[index]
        #expect(throws: WireError.self, "\(what)") { try X509Certificate(der: sample.der) }
    }

    @Test("What OpenSSL, OpenSC and NSS read as well")
    func readsLaxForms() throws {
        let one = try X509Certificate(der: Sample(extensions: [TLV(0x30, [6, 1, 42, 1, 1, 1, 4, 0]).encoded]).der)
        expect(one.extensions["1.2"]?.isCritical, is: true)
        let null: [UInt8] = [0x30, 0x07, 0x06, 0x03, 0x2B, 0x65, 0x70, 0x05, 0x00]
        try expect(X509Certificate(der: Sample(outerAlgorithm: null).der).signatureAlgorithm.encoded, is: null)
    }

    @Test("The key of a certificate that cannot be read otherwise")
    func readsTheKeyAlone() throws {
        let twice = Sample(extensions: [Sample.entry("1.2.3", []), Sample.entry("1.2.3", [1])])
        try expect(SubjectPublicKeyInfo(certificate: twice.der).encoded, is: twice.key)
        #expect(throws: WireError.self) { try SubjectPublicKeyInfo(certificate: [0x30, 0x00]) }
        #expect(throws: WireError.self) { try SubjectPublicKeyInfo(certificate: twice.key) }
    }

    @Test func readsNothingButDER() throws {
        let der = Sample(extensions: [Sample.entry("2.5.29.17", [0x30, 0x03, 0x82, 0x01, 0x61])]).der
        #expect(throws: WireError.self) { try X509Certificate(der: der + [0]) }
        #expect(throws: WireError.self) { try X509Certificate(der: [0x30, 0x80] + der.dropFirst(2) + [0, 0]) }
        let body = Array(der.dropFirst(3))
        expect(der.prefix(2), is: [0x30, 0x81])
        for length in [[0x82, 0x00, der[2]], [0x83, 0x00, 0x00, der[2]], [0x85, 0, 0, 0, 0, der[2]]] {
            #expect(throws: WireError.self) { try X509Certificate(der: [0x30] + length + body) }
        }
        let long = [UInt8](repeating: 0, count: 1 << 20)
        #expect(throws: WireError(.tooLarge, at: 0, "a certificate of 1048577 bytes")) {
            try X509Certificate(der: [0x30] + long)
        }
    }

    @Test func endsOnEveryChange() throws {
        let der = Sample(
            extensions: [
                Sample.entry("2.5.29.19", [0x30, 0x03, 0x01, 0x01, 0xFF]),
                Sample.entry("2.5.29.17", [0x30, 0x03, 0x82, 0x01, 0x61]),
                Sample.entry("2.5.29.15", [0x03, 0x02, 0x03, 0x08]), Sample.entry("2.5.29.14", [0x04, 0x01, 0x01]),
                Sample.entry("2.5.29.35", [0x30, 0x03, 0x80, 0x01, 0x01]),
                Sample.entry("2.5.29.37", [0x30, 0x04, 0x06, 0x02, 0x2A, 0x03]),
            ]).der
        for end in der.indices {
            #expect(throws: WireError.self, "\(end) bytes") { try X509Certificate(der: Array(der[..<end])) }
        }
        for place in der.indices {
            for value in UInt8.min...UInt8.max {
                var changed = der
                changed[place] = value
                guard let read = try? X509Certificate(der: changed) else { continue }
                expect(read.der, is: changed)
                Self.decode(read)
            }
        }
    }

    /// Decodes all that is decoded where it is asked for; errors are allowed.
    static func decode(_ certificate: X509Certificate) {
        _ = (certificate.issuer.description, certificate.subject.description, certificate.publicKey)
        _ = try? certificate.basicConstraints
        _ = try? certificate.keyUsage
        _ = try? certificate.extendedKeyUsage
        _ = try? certificate.alternativeNames?.map { ($0.text, $0.domainName, $0.directoryName) }
        _ = try? certificate.subjectKeyIdentifier
        _ = try? certificate.authorityKeyIdentifier
        _ = certificate.extensions.keys.map(\.description)
    }

    @Test func splitsCertificates() throws {
        let (first, second) = (Sample().der, Sample(subject: Sample.name("Bob")).der)
        try expect(X509Certificate.split(first + second), is: [first, second])
        #expect(try X509Certificate.split([]).isEmpty)
        #expect(throws: WireError.self) { try X509Certificate.split(first + second.dropLast()) }
        #expect(throws: WireError.self) { try X509Certificate.split(first + [0x31, 0x00]) }
        let sixteen = (0..<16).flatMap { _ in first }
        try expect(X509Certificate.split(sixteen).count, is: 16)
        #expect(throws: WireError.self) { try X509Certificate.split(sixteen + first) }
    }

    @Test func seesWhoSigned() throws {
        let key = try PrivateKey(ed25519: Secret([UInt8](repeating: 1, count: 32)))
        var sample = Sample()
        sample.signature = [0] + (try key.sign(sample.signedPart, .sha512))
        let certificate = try X509Certificate(der: sample.der)
        #expect(certificate.isSigned(by: key.publicKey))
        let other = try PrivateKey(ed25519: Secret([UInt8](repeating: 2, count: 32)))
        #expect(!certificate.isSigned(by: other.publicKey))
        sample.algorithm = [0x30, 0x03, 0x06, 0x01, 0x2A]
        sample.outerAlgorithm = sample.algorithm
        sample.signature = [0] + (try key.sign(sample.signedPart, .sha512))
        #expect(try !X509Certificate(der: sample.der).isSigned(by: key.publicKey))
    }

    @Test func readsPublicKeysOfAnyKind() throws {
        let curve = try PrivateKey(.p256, scalar: Secret([UInt8](repeating: 3, count: 32))).publicKey
        let info = try SubjectPublicKeyInfo(der: curve.subjectPublicKeyInfo)
        #expect(info.algorithm.type == "1.2.840.10045.2.1" && info.algorithm.parameterType == "1.2.840.10045.3.1.7")
        expect(info.key.count, is: 65)
        let unknown = TLV(0x30, [0x30, 0x05, 0x06, 0x01, 0x2A, 0x05, 0x00, 0x03, 0x01, 0x00]).encoded
        let other = try SubjectPublicKeyInfo(der: unknown)
        #expect(other.algorithm.type == "1.2" && other.algorithm.parameters == TLV(0x05, []))
        #expect(other.algorithm.parameterType == nil && other.key.isEmpty)
        try expect(X509Certificate(der: Sample(key: unknown).der).publicKey, is: nil)
        #expect(throws: WireError.self) { try SubjectPublicKeyInfo(der: unknown + [0]) }
    }
}
