// SPDX-License-Identifier: Apache-2.0

import Testing
import YKAttestation
import YKCrypto
import YKManagement
import YKPIV
import YKTestSupport
import YKTransport
import YKWire
import YKX509

/// Attestations in the form of certificates and requests: PIV and OpenPGP.
struct CertificateFormTests {
    @Test("published attestations of real keys of both generations are proven")
    func published() throws {
        let old = try Bench.verdict(Bench.published("yubikey-5ci").reversed())
        #expect(old.result == .proven && old.findings == [] && old.isRooted && old.usesOwnRoots)
        expect(old.path.last?.subject.description, is: "CN=Yubico PIV Root CA Serial 263751")
        #expect(old.form == .piv && old.slot == "93" && old.firmware == FirmwareVersion(5, 2, 4))
        #expect(old.pinPolicy == "never" && old.touchPolicy == "cached" && old.isGenerated == true)
        #expect(old.formFactor == .usbCLightning && old.isFIPS == false && old.notShown == [.presence])
        expect(old.advisories.map(\.name), is: ["EUCLEAK"])
        let new = try Bench.verdict(Bench.published("yubikey-5c-5-7-4"))
        #expect(new.result == .proven && new.serial == 33_162_554 && new.slot == "82" && new.advisories == [])
        #expect(new.path.last?.subject.description == "CN=Yubico Attestation Root 1" && new.path.count == 5)
        expect(new.keyDigest?.count, is: 32)
    }

    @Test("mixed and incomplete published files are not proven")
    func mixed() throws {
        let (old, new) = (try Bench.published("yubikey-5ci"), try Bench.published("yubikey-5c-5-7-4"))
        let mixed = try Bench.verdict([old[0], new[1]])
        #expect(mixed.findings == [.noDevice] && mixed.result == .notRooted)
        #expect(mixed.serial == nil && mixed.firmware == nil && mixed.touchPolicy == nil)
        var judge = AttestationJudge(at: Bench.now)
        judge.card = .piv(slot: .authentication, serial: 1234, key: nil)
        let carded = judge.verdict(on: old[0], device: old[1])
        #expect(carded.findings.contains(.otherSlot("93")) && carded.findings.contains(.otherSerial(11_778_047)))
        #expect(carded.result == .mismatch && carded.notShown.contains(.card))
        expect(judge.verdict(on: old[0], device: new[1]).findings.first, is: .notSignedByDevice)
        let both = AttestationJudge(at: Bench.now).verdicts(on: AttestationEvidence(certificates: old + new))
        expect(both.map(\.result), is: [.proven, .proven])
        try expect(Bench.verdict([old[1]]).findings, is: [.noStatement])
        judge.card = nil
        judge.roots = [new[1]]
        try expect(Bench.verdict(old, judge).result, is: .notRooted)
    }

    @Test("the card's slot, serial number and key are compared")
    func card() async throws {
        let attested = try await Bench().piv()
        var judge = attested.judge
        let key = try #require(attested.statement.publicKey)
        judge.card = .piv(slot: .cardAuthentication, serial: 4711, key: key)
        expect(judge.verdict(on: attested.statement, device: attested.device).result, is: .proven)
        judge.card = .piv(slot: .cardAuthentication, serial: 4711, key: .ed25519([UInt8](repeating: 1, count: 32)))
        expect(judge.verdict(on: attested.statement, device: attested.device).findings, is: [.otherCardKey])
        judge.card = .piv(slot: .signature, serial: 4711, key: key)
        expect(judge.verdict(on: attested.statement, device: attested.device).findings, is: [.otherSlot("9e")])
    }

    @Test("a challenge is answered by the attested key only")
    func challenges() async throws {
        let (attested, other) = (try await Bench().piv(), try await Bench().piv())
        let challenge = Array("nonce".utf8)
        var judge = attested.judge
        var evidence = attested.evidence
        judge.challenge = AttestationChallenge(challenge + [0x0A])
        expect(judge.verdicts(on: evidence)[0].findings, is: [.noAnswer])
        let proof = try await attested.proof(challenge)
        try evidence.add(Array(proof.pem.utf8))
        let good = judge.verdicts(on: evidence)[0]
        #expect(good.result == .proven && good.notShown == [])
        judge.challenge = AttestationChallenge(Array("another".utf8))
        expect(judge.verdicts(on: evidence)[0].findings, is: [.otherChallenge])
        judge.challenge = nil
        expect(judge.verdicts(on: evidence)[0].notShown, is: [.freshness])
        judge.challenge = AttestationChallenge(challenge)
        evidence = attested.evidence
        try evidence.add(Array(try await other.proof(challenge).pem.utf8))
        expect(judge.verdicts(on: evidence)[0].findings, is: [.wrongSignature])
    }

    @Test("requests contain the attestation, in every encoding", arguments: ["der", "base64", "pem", "octets"])
    func requests(_ encoding: String) async throws {
        let attested = try await Bench().piv()
        let encode: ([UInt8]) -> [UInt8] = { der in
            switch encoding {
            case "base64": Array(Base64.encode(der).utf8)
            case "pem": Array(PEM.encode("CERTIFICATE", der).utf8)
            case "octets": TLV(0x04, der).encoded
            default: der
            }
        }
        let template = CertificateTemplate(
            subject: try DistinguishedName("CN=Alice"),
            attestation: (encode(attested.statement.der), encode(attested.device.der)))
        let request = try await attested.service.certificateRequest(.cardAuthentication, template)
        let verdict = attested.judge.verdicts(on: try Bench.evidence(request))[0]
        #expect(verdict.result == .proven && verdict.form == .request && verdict.notShown == [.freshness])
        let plain = CertificateTemplate(subject: try DistinguishedName("CN=Alice"))
        let bare = try await attested.service.certificateRequest(.cardAuthentication, plain)
        expect(attested.judge.verdicts(on: try Bench.evidence(bare))[0].findings, is: [.noStatement])
        var evidence = try Bench.evidence(Array(PEM.encode("CERTIFICATE REQUEST", bare).utf8))
        for certificate in [attested.statement, attested.device] { try evidence.add(certificate.der) }
        expect(attested.judge.verdicts(on: evidence).map(\.result), is: [.proven])
        var broken = request
        broken[broken.count - 1] ^= 1
        expect(attested.judge.verdicts(on: try Bench.evidence(broken))[0].findings, is: [.wrongSignature])
    }

    @Test("a request with another key's attestation is refused, and a certificate with its own proven")
    func swapped() async throws {
        let (attested, other) = (try await Bench().piv(), try await Bench().piv(.p256, .signature))
        let template = CertificateTemplate(
            subject: try DistinguishedName("CN=Mallory"),
            attestation: (attested.statement.der, attested.device.der))
        let request = try await other.service.certificateRequest(.signature, template)
        expect(attested.judge.verdicts(on: try Bench.evidence(request))[0].findings, is: [.otherKey])
        let certificate = try await attested.service.selfSignedCertificate(
            .cardAuthentication, template, validity: .seconds(86_400))
        let verdict = attested.judge.verdicts(on: try Bench.evidence(certificate.der))[0]
        #expect(verdict.form == .certificate && verdict.result == .proven)
    }

    @Test("another key than the expected one is a mismatch, whatever file names it")
    func subjects() async throws {
        let (attested, other) = (try await Bench().piv(), try await Bench().piv())
        var judge = attested.judge
        let key = try #require(attested.statement.publicKey)
        let pem = Array(PEM.encode("PUBLIC KEY", key.subjectPublicKeyInfo).utf8)
        let template = CertificateTemplate(subject: try DistinguishedName("CN=Alice"))
        let request = try await attested.service.certificateRequest(.cardAuthentication, template)
        for file in [pem, attested.statement.der, request] {
            judge.subject = try AttestedSubject(parsing: file)
            expect(judge.verdicts(on: attested.evidence)[0].result, is: .proven)
            var foreign = other.judge
            foreign.subject = judge.subject
            expect(foreign.verdicts(on: other.evidence)[0].findings, is: [.notExpectedKey])
        }
        expect(AttestedSubject(key).application, is: nil)
        #expect(throws: AttestationError.unrecognized) { try AttestedSubject(parsing: Array("hello".utf8)) }
        #expect(throws: AttestationError.unrecognized) {
            try AttestedSubject(parsing: Array(AttestationProof(challenge: [1], signature: [2]).pem.utf8))
        }
    }

    @Test("a file that names several keys is refused, one that names a key twice or has its chain is not")
    func severalKeys() async throws {
        let (attested, other) = (try await Bench().piv(), try await Bench().piv())
        let template = CertificateTemplate(subject: try DistinguishedName("CN=Alice"))
        var files: [[String]] = [[], [], []]
        for one in [attested, other] {
            let request = try await one.service.certificateRequest(.cardAuthentication, template)
            let key = try #require(one.statement.publicKey)
            files[0].append(PEM.encode("CERTIFICATE REQUEST", request))
            files[1].append(PEM.encode("CERTIFICATE", one.statement.der))
            files[2].append(PEM.encode("PUBLIC KEY", key.subjectPublicKeyInfo))
        }
        let mixed = [(0, 1), (2, 0), (2, 1)].map { [files[$0][0], files[$1][1]] }
        for parts in files + mixed {
            #expect(throws: AttestationError.severalKeys) {
                try AttestedSubject(parsing: Array(parts.joined().utf8))
            }
        }
        let chain = PEM.encode("CERTIFICATE", attested.device.der) + files[1][0]
        var judge = attested.judge
        let renewed = try await attested.service.selfSignedCertificate(
            .cardAuthentication, template, validity: .seconds(86_400))
        let own = PEM.encode("CERTIFICATE", renewed.der)
        let onOne = [
            chain, files[0][0] + files[1][0], files[2][0] + chain, files[1][0] + own, own + files[0][0] + chain,
        ]
        for text in files.map({ $0[0] + $0[0] }) + onOne {
            judge.subject = try AttestedSubject(parsing: Array(text.utf8))
            expect(judge.verdicts(on: attested.evidence)[0].result, is: .proven, "\(text)")
        }
    }

    @Test("each requirement has a yes and a no")
    func requirements() async throws {
        let policies = KeyPolicies(pin: .once, touch: .always)
        let attested = try await Bench().piv(.p256, .authentication, policies: policies)
        var judge = attested.judge
        for (text, isMet) in [
            ("touch=always", true), ("touch=cached", false), ("touch=always|cached", true), ("pin=once", true),
            ("pin=always", false), ("firmware>=5.7", true), ("firmware>=5.7.2", false), ("firmware>=6", false),
            ("serial=4711", true), ("serial=4712", false), ("slot=9a", true), ("slot=9c", false),
            ("generated", true), ("fips", false),
        ] {
            judge.requirements = try AttestationRequirement.list(text)
            let verdict = judge.verdicts(on: attested.evidence)[0]
            expect(verdict.result, is: (isMet ? .proven : .unmet), "\(text)")
        }
        judge.requirements = try AttestationRequirement.list("touch=never, pin=once , fips")
        expect(
            judge.verdicts(on: attested.evidence)[0].findings,
            is: [
                .unmet(.touch(["never"]), found: "always"), .unmet(.fips, found: "no"),
            ])
        let texts = "touch=always,pin=match-once|once,slot=9a,serial=1|2,firmware>=5.0.0,fips,generated"
        try expect(AttestationRequirement.list(texts).map(\.description).joined(separator: ","), is: texts)
        for text in [
            "", "touch", "touch=", "touch=often", "pin=a", "serial=x", "firmware>=a", "firmware>=1.2.3.4", "x=1",
        ] {
            #expect(throws: AttestationError.requirement(text)) { try AttestationRequirement.list(text) }
        }
    }

    @Test("a FIPS or CSPN device says so in its certificate or in its form factor")
    func fips() async throws {
        let made = try shell(
            """
            openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout f9.key -subj /CN=F9 \
              -addext 1.3.6.1.4.1.41482.3.10=DER:0500 -addext 1.3.6.1.4.1.41482.3.11=DER:0500 -days 9000 -out f9.pem
            openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout k -subj '/CN=Attestation 9a' -out k.csr
            printf '1.3.6.1.4.1.41482.3.8=DER:0202\\n1.3.6.1.4.1.41482.3.7=DER:02020539\\n' > ext
            openssl x509 -req -in k.csr -CA f9.pem -CAkey f9.key -days 9000 -extfile ext
            cat f9.pem
            """)
        var judge = AttestationJudge(at: 0)
        let evidence = try Bench.evidence(made)
        judge.roots = [try #require(evidence.certificates.last)]
        judge.time = evidence.certificates[0].notBefore + 60
        judge.requirements = [.fips, .serial([1337])]
        let verdict = judge.verdicts(on: evidence)[0]
        #expect(verdict.result == .proven && verdict.isFIPS == true && verdict.isCSPN == true && verdict.slot == "9a")
        let other = try await Bench().piv()
        let plain = other.judge.verdicts(on: other.evidence)[0]
        #expect(plain.isFIPS == false && plain.isCSPN == false)
    }

    @Test("a statement signed by its own key is software, one with a malformed field malformed")
    func software() throws {
        let made = try shell(
            """
            for ext in 1.3.6.1.4.1.41482.3.8=DER:0202 1.3.6.1.4.1.41482.3.8=DER:02; do
            openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout k -subj '/CN=Attestation 9a' \
              -addext $ext -days 9000
            done
            """)
        let verdicts = AttestationJudge(at: Bench.now).verdicts(on: try Bench.evidence(made))
        #expect(verdicts.map(\.result) == [.software, .malformed] && verdicts[0].touchPolicy == nil)
    }

    @Test("an OpenPGP statement says whether the key was generated")
    func openPGP() async throws {
        let (statement, device, root) = try await Bench().openPGP()
        var judge = AttestationJudge(at: Bench.now)
        try expect(Bench.verdict([statement, device], judge).result, is: .notRooted)
        judge.roots = [root]
        let verdict = try Bench.verdict([device, statement], judge)
        #expect(verdict.result == .proven && verdict.form == .openPGP && verdict.slot == "signature")
        #expect(verdict.touchPolicy == "always" && verdict.isGenerated == true && verdict.serial == 4711)
        #expect(verdict.fingerprint?.count == 20 && verdict.generationTime != nil && verdict.isFIPS == false)
        let key = try #require(statement.publicKey)
        judge.card = .openPGP(key: key)
        expect(judge.verdict(onOpenPGP: statement, device: device).result, is: .proven)
        judge.card = .openPGP(key: .ed25519([UInt8](repeating: 1, count: 32)))
        expect(judge.verdict(onOpenPGP: statement, device: device).findings, is: [.otherCardKey])
        try expect(Bench.verdict([statement], judge).findings.first, is: .noDevice)
    }

    @Test("imported OpenPGP keys, and malformed statements, by the fields of openssl")
    func openPGPFields() throws {
        let made = try shell(
            """
            openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout att.key -subj /CN=ATT -days 9000 -out a
            for fields in 5.2=DER:020100 5.2=DER:0101ff '5.2=DER:020101 5.8=DER:040103 5.5=DER:040465000000' \
                '5.2=DER:020101 5.8=DER:040109' '5.2=DER:020101 5.7=DER:020900ffffffffffffffff' \
                '5.2=DER:020101 5.7=DER:020a00ffffffffffffffffff' '5.2=DER:020101 5.3=DER:02'; do
              openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout k -subj '/CN=Attestation DEC' -out k.csr
              for field in $fields; do echo 1.3.6.1.4.1.41482.$field; done > ext
              openssl x509 -req -in k.csr -CA a -CAkey att.key -days 9000 -extfile ext
            done
            cat a
            """)
        let evidence = try Bench.evidence(made)
        var judge = AttestationJudge(at: evidence.certificates[0].notBefore + 60)
        judge.roots = [try #require(evidence.certificates.last)]
        let verdicts = judge.verdicts(on: evidence)
        expect(verdicts.map(\.result), is: [.imported, .malformed, .proven, .proven, .proven, .malformed, .malformed])
        #expect(verdicts[2].touchPolicy == "cached" && verdicts[2].slot == "decryption")
        #expect(verdicts[2].generationTime == 0x6500_0000 && verdicts[3].touchPolicy == "policy 9")
        expect(verdicts[4].serial, is: .max)
    }
}
