// SPDX-License-Identifier: Apache-2.0

import Testing
import YKAttestation
import YKCapture
import YKCrypto
import YKFIDO
import YKPIV
import YKRelyingParty
import YKSSH
import YKTestSupport
import YKTransport
import YKVirtualKey
import YKWire
import YKX509

/// SSH credentials, WebAuthn registrations, ACME statements, recordings; and what is none of them.
struct OtherFormTests {
    /// A credential of a virtual key, the certificate that signed its attestation, and the challenge.
    private func credential(
        _ format: AttestationFormat = .packed, application: String = "ssh:"
    ) async throws -> (response: AttestationObject, root: X509Certificate, challenge: [UInt8]) {
        let bench = try Bench()
        let channel = CardChannel(link: bench.key.link(), environment: .instant)
        let service = try await FIDOService.open(card: channel, interaction: FIDOInteraction(pin: { _ in nil }))
        let challenge = Array("challenge".utf8)
        var request = RegistrationRequest(
            clientDataHash: HashAlgorithm.sha256.hash(challenge), relyingParty: RelyingParty(id: application),
            user: FIDOUser(id: [1], name: "openssh"))
        request.attestationFormats = [format]
        let made = try await service.register(request)
        let certificate = made.response.statement["x5c"]?.array?.first?.bytes ?? bench.key.state.fido.certificate
        return (made.response.attestationObject, try X509Certificate(der: certificate), challenge)
    }

    private func file(_ response: AttestationObject, certificate: [UInt8]? = nil) -> [UInt8] {
        SSHAttestation(
            certificate: certificate ?? response.statement["x5c"]?.array?.first?.bytes ?? [],
            signature: response.statement["sig"]?.bytes ?? [], authenticatorData: response.authenticatorData
        ).encoded
    }

    @Test("an SSH attestation is proven with its challenge, and unchecked without")
    func ssh() async throws {
        let (response, root, challenge) = try await credential()
        let evidence = try Bench.evidence(Array((Base64.encode(file(response)) + "\n").utf8))
        var judge = AttestationJudge(at: Bench.now)
        judge.roots = [root]
        let unchecked = judge.verdicts(on: evidence)[0]
        #expect(unchecked.result == .unchecked && unchecked.form == .ssh && unchecked.isRooted)
        judge.challenge = AttestationChallenge(challenge)
        let good = judge.verdicts(on: evidence)[0]
        #expect(good.result == .proven && good.notShown == [] && good.aaguid?.count == 16)
        judge.challenge = AttestationChallenge(challenge + [0x0A])
        expect(judge.verdicts(on: evidence)[0].findings, is: [.fido(.badSignature)])
        judge.challenge = AttestationChallenge(challenge)
        judge.roots = []
        expect(judge.verdicts(on: evidence)[0].result, is: .notRooted)
    }

    @Test("key and application of an SSH credential are compared")
    func applications() async throws {
        let (response, root, challenge) = try await credential(application: "ssh:work")
        var judge = AttestationJudge(at: Bench.now)
        (judge.roots, judge.challenge) = ([root], AttestationChallenge(challenge))
        let evidence = try Bench.evidence(file(response))
        expect(judge.verdicts(on: evidence)[0].notShown, is: [.application])
        let cose = try #require(response.authenticatorData.credential?.publicKey)
        let key = try #require(SSHPublicKey(cose: cose, application: "ssh:work"))
        judge.subject = try AttestedSubject(parsing: Array(key.line(comment: "a").utf8))
        expect(judge.verdicts(on: evidence)[0].result, is: .proven)
        judge.subject = AttestedSubject(try #require(SSHPublicKey(cose: cose, application: "ssh:home")))
        expect(judge.verdicts(on: evidence)[0].findings, is: [.otherApplication])
        let (other, _, _) = try await credential(application: "ssh:work")
        let otherKey = try #require(other.authenticatorData.credential?.publicKey)
        let second = try #require(SSHPublicKey(cose: otherKey, application: "ssh:work"))
        judge.subject = AttestedSubject(second)
        expect(judge.verdicts(on: evidence)[0].findings, is: [.notExpectedKey])
        let lines = [key, second].map { $0.line(comment: "a") }.joined(separator: "\n")
        #expect(throws: AttestationError.severalKeys) { try AttestedSubject(parsing: Array(lines.utf8)) }
    }

    @Test("an SSH attestation without a certificate is software")
    func selfAttested() async throws {
        let (response, _, challenge) = try await credential()
        var judge = AttestationJudge(at: Bench.now)
        let evidence = try Bench.evidence(file(response, certificate: []))
        expect(judge.verdicts(on: evidence)[0].result, is: .software)
        judge.challenge = AttestationChallenge(challenge)
        expect(judge.verdicts(on: evidence)[0].findings, is: [.fido(.badSignature)])
    }

    @Test("real registrations of YubiKeys lead to Yubico's roots")
    func webAuthn() throws {
        for line in try Recordings.lines("attestation/registrations.jsonl") {
            let file = Array((line["registration"] ?? .null).text.utf8)
            var judge = AttestationJudge(at: Bench.now)
            let evidence = try Bench.evidence(file)
            let verdict = judge.verdicts(on: evidence)[0]
            #expect(verdict.result == .proven && verdict.form == .webAuthn, "\(line["aaguid"]?.string ?? "")")
            expect(verdict.path.last?.subject.description, is: "CN=Yubico U2F Root CA Serial 457200631")
            expect(verdict.notShown, is: [.freshness])
            judge.challenge = AttestationChallenge([1])
            expect(judge.verdicts(on: evidence)[0].findings.first, is: .otherChallenge)
            let data = try ResponseFile(json: file).clientData
            judge.challenge = AttestationChallenge(Array(Base64.encodeURL(data?.challenge ?? []).utf8))
            expect(judge.verdicts(on: evidence)[0].result, is: .proven)
            judge.roots = [try #require(AttestationChain.yubico.roots.first)]
            expect(judge.verdicts(on: evidence)[0].result, is: .notRooted)
        }
    }

    @Test("the FIDO certificates of Yubico are those that it publishes")
    func yubicosCertificates() throws {
        let chain = AttestationChain.yubicoFIDO
        #expect(chain.roots.count == 3 && chain.others.count == 5)
        expect(
            ([chain.roots[1]] + chain.others[2...]).map { Hex.encode($0.fingerprint) },
            is: [
                "35f1a54b353bfb711e6d42adbeb76c0e9dead095018e6a94783ba2192fd6faad",
                "4ebabc9cbc964f722c985f3784d057e9ef5dcf454dcb4f767fccca58cf16a4e8",
                "4eadda86ff62cff987e111a07910d8554de42f71d5d6da7744610e09012dd319",
                "3c6fe819adbd80afe75dc90af7bba34c95b2b7ac64384816e033f63b7c93848b",
            ])
        let check = CertificatePathCheck(anchors: [chain.roots[2].der], at: Bench.now)
        for (last, first) in [(2, 0), (3, 1), (4, 1)] {
            let path = try check.path(from: chain.others[last].der, others: [chain.others[first].der])
            expect(path.count, is: 3)
        }
        #expect(UTCDate(AttestationChain.yubicoSource.date) != nil)
    }

    @Test("an ACME statement is verified with its key authorization")
    func step() async throws {
        let attested = try await Bench().piv()
        let authorization = Array("token.thumbprint".utf8)
        let key = try #require(attested.statement.publicKey)
        let signature = try await attested.service.sign(.message(authorization), .cardAuthentication, algorithm: .p256)
        let statement = try #require(
            StepStatement(
                certificates: [attested.statement.der, attested.device.der], signature: signature, of: key))
        var judge = attested.judge
        let answer: JSONValue = ["attObj": .string(Base64.encodeURL(statement.encoded))]
        for evidence in [try Bench.evidence(statement.encoded), try Bench.evidence(Array(answer.text.utf8))] {
            judge.challenge = nil
            expect(judge.verdicts(on: evidence)[0].notShown, is: [.presence])
            judge.challenge = AttestationChallenge(authorization)
            let verdict = judge.verdicts(on: evidence)[0]
            #expect(
                verdict.result == .proven && verdict.form == .step && verdict.notShown == [] && verdict.serial == 4711)
            judge.challenge = AttestationChallenge(Array("token.other".utf8))
            expect(judge.verdicts(on: evidence)[0].findings, is: [.otherChallenge])
        }
        let device = try #require(
            StepStatement(certificates: [attested.device.der], signature: signature, of: key))
        #expect(judge.verdicts(on: try Bench.evidence(device.encoded))[0].findings.contains(.noStatement))
        let foreign = try #require(StepStatement(certificates: [[0x30]], signature: signature, of: key))
        expect(judge.verdicts(on: try Bench.evidence(foreign.encoded))[0].result, is: .malformed)
    }

    @Test("step-ca accepts neither P-384 nor X25519")
    func stepKeys() async throws {
        let attested = try await Bench().piv(.p384)
        let key = try #require(attested.statement.publicKey)
        #expect(!StepStatement.accepts(key) && StepStatement(certificates: [], signature: [], of: key) == nil)
        #expect(!StepStatement.accepts(.x25519([UInt8](repeating: 9, count: 32))))
        let other = try #require(
            StepStatement(
                certificates: [attested.statement.der, attested.device.der], signature: [1],
                of: .ed25519([UInt8](repeating: 1, count: 32))))
        expect(attested.judge.verdicts(on: try Bench.evidence(other.encoded))[0].result, is: .unsupported)
        let rsa = StepStatement(
            certificates: [[1]], signature: [1], of: .rsa(modulus: [UInt8](repeating: 0xFF, count: 256), exponent: [3]))
        expect(rsa?.algorithm, is: -257)
    }

    @Test("malformed ACME statements are refused")
    func malformedStep() throws {
        let statements: [CBOR] = [
            ["fmt": "step", "attStmt": ["x5c": [], "sig": .bytes([1])]],
            ["fmt": "step", "attStmt": ["x5c": ["a"], "sig": .bytes([1])]],
            ["fmt": "step", "attStmt": ["x5c": [.bytes([1])]]], ["fmt": "step"],
        ]
        for statement in statements {
            #expect(throws: AttestationError.self) { try Bench.evidence(statement.encoded) }
        }
        let apple: CBOR = ["fmt": "apple", "attStmt": [:]]
        #expect(throws: AttestationError.unsupported("apple")) { try Bench.evidence(apple.encoded) }
        let nothing: CBOR = ["a": 1]
        #expect(throws: AttestationError.unrecognized) { try Bench.evidence(nothing.encoded) }
        #expect(throws: AttestationError.self) { try Bench.evidence([0xA1]) }
        #expect(throws: AttestationError.self) { try Bench.evidence(Array(#"{"attObj":"*"}"#.utf8)) }
    }

    @Test("a recording contains the certificates that a card returned")
    func recordings() async throws {
        let bench = try Bench()
        let attested = try await bench.piv()
        let object = TLV(0x53, [TLV(0x70, attested.device.der), TLV(0x71, [0]), TLV(0xFE, [])].encoded).encoded
        let ok: [UInt8] = [0x90, 0x00]
        let replies = [[0x6A, 0x82], Array(attested.statement.der[..<100]) + [0x61, 0x00]]
        let commands: [[UInt8]] = [
            [0, 0xCB, 0x3F, 0xFF, 0], [0, 0xF9, 0x9E, 0, 0], [0, 0xC0, 0, 0, 0], [0, 0xCB, 0x3F, 0xFF, 0],
        ]
        let capture = Capture(
            header: Capture.Header(link: .card),
            events: zip(commands, replies + [attested.statement.der[100...] + ok, object + ok, object + ok]).map {
                Capture.Event(.exchange(command: $0, reply: $1))
            })
        let evidence = try Bench.evidence(Array(capture.text.utf8))
        expect(evidence.certificates, is: [attested.statement, attested.device])
        expect(attested.judge.verdicts(on: evidence)[0].result, is: .proven)
        #expect(throws: AttestationError.self) { try Bench.evidence(Array("{\"capture\":1}\n{".utf8)) }
    }

    @Test("files are recognized by their content")
    func recognition() async throws {
        let attested = try await Bench().piv()
        let all = attested.statement.der + attested.device.der
        try expect(Bench.evidence(all).certificates.count, is: 2)
        try expect(Bench.evidence(Array(Base64.encode(all).utf8)).certificates.count, is: 2)
        #expect(try Bench.evidence(all, all).certificates.count == 2 && AttestationEvidence().isEmpty)
        let texts = [Base64.encode(all), Bench.fixture("signing-key.json").map { String(UnicodeScalar($0)) }.joined()]
        for text in texts {
            let wide: [UInt8] = [0xFF, 0xFE] + text.utf8.flatMap { byte -> [UInt8] in [byte, 0] }
            for bytes: [UInt8] in [[0xEF, 0xBB, 0xBF] + Array(text.utf8), wide, Array(("\n " + text).utf8)] {
                #expect(try !Bench.evidence(bytes).isEmpty)
            }
        }
        for text in ["", "hello", "YWJj", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"] {
            #expect(throws: AttestationError.unrecognized) { try Bench.evidence(Array(text.utf8)) }
        }
        let blocks = ["CERTIFICATE", "CERTIFICATE REQUEST", AttestationProof.label].map { PEM.encode($0, [0x30, 0]) }
        for text in blocks + ["{", "{}", "0"] {
            #expect(throws: AttestationError.self) { try Bench.evidence(Array(text.utf8)) }
        }
        #expect(throws: AttestationError.self) { try Bench.evidence([0x30, 0x80]) }
        var older = SSHAttestation(
            certificate: [], signature: [],
            authenticatorData: AuthenticatorData(rpIDHash: [UInt8](repeating: 0, count: 32), flags: [], counter: 0)
        ).encoded
        #expect(throws: AttestationError.self) { try Bench.evidence(older) }
        older[20] = UInt8(ascii: "0")
        #expect(throws: AttestationError.unsupported("ssh-sk-attest-v00")) { try Bench.evidence(older) }
        let long = TLV(0x30, TLV(0x04, [UInt8](repeating: 1, count: 2000)).encoded + TLV(0x04, []).encoded).encoded
        #expect(throws: AttestationError.self) { try AttestationProof(decoding: long) }
        var many = AttestationEvidence()
        let proof = Array(AttestationProof(challenge: [1], signature: [2]).pem.utf8)
        #expect(throws: AttestationError.self) { for _ in 0..<70 { try many.add(proof) } }
    }
}
