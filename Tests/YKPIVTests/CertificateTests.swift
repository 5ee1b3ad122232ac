// SPDX-License-Identifier: Apache-2.0

import Testing
import YKCrypto
import YKPIV
import YKTestSupport
import YKTransport
import YKVirtualKey
import YKWire
import YKX509

struct CertificateTests {
    static let subject = "CN=Alice \\, the first,OU=Tests,O=Example,DC=example,C=DE"

    private func template(_ text: String = subject, _ hash: HashAlgorithm = .sha256) throws -> CertificateTemplate {
        CertificateTemplate(
            subject: try DistinguishedName(text),
            alternativeNames: try [
                "dns:example.com", "email:a@example.com", "ip:192.0.2.1", "ip:2001:db8::1",
                "uri:https://example.com/",
            ].map { try AlternativeName($0) }, hash: hash)
    }

    @Test(arguments: KeyTests.algorithms, [HashAlgorithm.sha256, .sha512])
    func signsItselfForOpenSSL(_ algorithm: PIVAlgorithm, _ hash: HashAlgorithm) async throws {
        let (service, key) = try await Bench().with(algorithm)
        try await service.verify(pin())
        let certificate = try await service.selfSignedCertificate(
            .authentication, try template(Self.subject, hash), validity: .seconds(365 * 86_400))
        expect(certificate.subject.description, is: Self.subject)
        expect(certificate.issuer, is: certificate.subject)
        expect(certificate.publicKey, is: key)
        expect(certificate.notBefore, is: 1_795_000_000)
        expect(certificate.notAfter, is: 1_795_000_000 + 365 * 86400)
        try expect(certificate.alternativeNames?.map(\.text).contains("dns:example.com"), is: true)
        try expect(certificate.alternativeNames?.map(\.text).contains("ip:2001:db8:0:0:0:0:0:1"), is: true)
        #expect(certificate.isSigned(by: key))
        let path = "/tmp/ykpiv-cert.\(UInt64.random(in: 0 ... .max)).pem"
        try write(Array(PEM.encode("CERTIFICATE", certificate.der).utf8), path)
        let check = try run(
            ["openssl", "verify", "-check_ss_sig", "-auth_level", "0", "-no_check_time", "-CAfile", path, path])
        expect(check.status, is: 0)
        _ = try run(["rm", path])

        let request = try await service.certificateRequest(.authentication, try template(Self.subject, hash), key: key)
        let verified = try run(["openssl", "req", "-verify", "-noout", "-inform", "DER"], input: request)
        expect(verified.status, is: 0)

        try await service.putCertificate(certificate.der, .authentication, checking: true)
        try await expect(service.certificate(.authentication), is: certificate)
        try await service.deleteCertificate(.authentication)
        await #expect(throws: PIVError.noSuchObject(.authenticationCertificate)) {
            try await service.certificate(.authentication)
        }
    }

    @Test func refusesToSignWithAKeyThatAgrees() async throws {
        let (service, _) = try await Bench().with(.x25519)
        await #expect(throws: PIVError.unfit(.x25519, for: .sign)) {
            try await service.certificateRequest(.authentication, try template())
        }
        await #expect(throws: PIVError.badInput("a certificate is valid for 1 to 36500 days")) {
            try await service.selfSignedCertificate(.authentication, try template(), validity: .seconds(86_399))
        }
    }

    @Test func seesACertificateOfAnotherKey() async throws {
        let bench = try Bench()
        let (service, _) = try await bench.with(.p256)
        try await service.verify(pin())
        let certificate = try await service.selfSignedCertificate(
            .authentication, try template(), validity: .seconds(86_400))
        let other = try await service.generateKey(.keyManagement, .p256)
        await #expect(throws: PIVError.mismatch(.keyManagement)) {
            try await service.putCertificate(certificate.der, .keyManagement, checking: true)
        }
        await #expect(throws: PIVError.wrongSignature(.authentication)) {
            try await service.selfSignedCertificate(
                .authentication, try template(), validity: .seconds(86_400), key: other)
        }
        await #expect(throws: PIVError.unusableSlot(PIVSlot(rawValue: 1))) {
            try await service.putCertificate(certificate.der, PIVSlot(rawValue: 1))
        }
        let old = try Bench(FirmwareVersion(4, 3, 5))
        let oldService = try await old.manage()
        let key = try PrivateKey(.p256, scalar: Secret([UInt8](repeating: 3, count: 32)))
        _ = try await oldService.importKey(key, .authentication)
        await #expect(throws: PIVError.pinRequired) {
            try await oldService.check(certificate, belongsTo: .authentication)
        }
        try await oldService.verify(pin())
        await #expect(throws: PIVError.mismatch(.authentication)) {
            try await oldService.check(certificate, belongsTo: .authentication)
        }
        let own = try await oldService.selfSignedCertificate(
            .authentication, try template(), validity: .seconds(86_400), key: key.publicKey)
        try await oldService.check(own, belongsTo: .authentication)
    }

    @Test func inflatesBothForms() async throws {
        let (service, key) = try await Bench().with(.rsa2048)
        try await service.verify(pin())
        let certificate = try await service.selfSignedCertificate(
            .authentication, try template(), validity: .seconds(86_400), key: key)
        try await service.putCertificate(certificate.der, .authentication, compressed: true)
        try await expect(service.certificate(.authentication), is: certificate)
        let stored = try CertificateObject(decoding: try await service.object(.authenticationCertificate))
        #expect(stored.isCompressed)
        #expect(stored.stored.count < certificate.der.count)

        let python =
            "import sys,zlib,struct;d=sys.stdin.buffer.read();"
            + "sys.stdout.buffer.write(bytes([1,0])+struct.pack(\"<H\",len(d))+zlib.compress(d))"
        let zlib = try run(["python3", "-c", python], input: certificate.der).output
        let object = [TLV(0x70, zlib), TLV(0x71, [1]), TLV(0xFE, [])].encoded
        try await service.putObject(.authenticationCertificate, object)
        try await expect(service.certificate(.authentication), is: certificate)
        let nested = TLV(0x70, zlib).encoded
        let information: [[UInt8]?] = [nil, [], [0], [1], [1, 0]]
        for (content, info) in [zlib, nested, Array(zlib[4...])].flatMap({ each in information.map { (each, $0) } })
        where content != zlib || info == [1] {
            let object = [TLV(0x70, content)] + (info.map { [TLV(0x71, $0)] } ?? [])
            try await service.putObject(.authenticationCertificate, object.encoded)
            try await expect(service.certificate(.authentication), is: certificate, "\(info ?? [])")
        }
        try await service.putObject(
            .authenticationCertificate, [TLV(0x70, certificate.der), TLV(0x71, [1, 2])].encoded)
        try await expect(service.certificate(.authentication), is: certificate)
        var lying = zlib
        lying[2] ^= 1
        let bomb = try run(["python3", "-c", "import sys,gzip;sys.stdout.buffer.write(gzip.compress(bytes(1<<24)))"])
        for content in [lying, Array(zlib.dropLast(3)), [0x1F, 0x8B, 1], [1, 2, 3], Array(bomb.output.prefix(2900))] {
            let object = [TLV(0x70, content), TLV(0x71, [1])].encoded
            try await service.putObject(.authenticationCertificate, object)
            await #expect(throws: PIVError.notInflated(limit: CertificateObject.inflatedLimit)) {
                try await service.certificate(.authentication)
            }
        }
        let whole = try CertificateObject(decoding: [TLV(0x70, bomb.output), TLV(0x71, [1])].encoded)
        #expect(throws: PIVError.notInflated(limit: 1 << 16)) { try whole.certificate() }
    }

    @Test func refusesWhatIsNoCertificate() async throws {
        let service = try await Bench().manage()
        await #expect(throws: PIVError.self) { try await service.putCertificate([0x30, 0x00], .authentication) }
        for content in ["70820fff00", "7000", "7101", "7003300000fe00", "70023000710101"] {
            try await service.putObject(.authenticationCertificate, try bytes(content))
            await #expect(throws: PIVError.self) { try await service.certificate(.authentication) }
        }
        #expect(try await service.report().slots.first?.certificate != nil)
    }

    @Test func writesNamesAsOpenSSLReadsThem() throws {
        let name = try DistinguishedName(
            "CN=Alice \\, the first+UID=a1,1.3.6.1.4.1.41482.3.999999=x,O=Ex\\ ,DC=example,C=DE")
        let read = try run(["openssl", "asn1parse", "-inform", "DER"], input: name.encoded)
        expect(read.status, is: 0)
        let types = String(decoding: read.output, as: UTF8.self).split(separator: "\n").filter { $0.contains("prim") }
            .compactMap { $0.split(separator: "prim:").last?.filter { $0 != " " } }
        expect(
            types,
            is: [
                "OBJECT:countryName", "PRINTABLESTRING:DE", "OBJECT:domainComponent", "IA5STRING:example",
                "OBJECT:organizationName", "UTF8STRING:Ex", "OBJECT:1.3.6.1.4.1.41482.3.999999", "UTF8STRING:x",
                "OBJECT:userId", "UTF8STRING:a1", "OBJECT:commonName", "UTF8STRING:Alice,thefirst",
            ])
    }
}
