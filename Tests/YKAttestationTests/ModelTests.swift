// SPDX-License-Identifier: Apache-2.0

import Glibc
import Testing
import YKAttestation
import YKCrypto
import YKFIDO
import YKPIV
import YKRelyingParty
import YKSSH
import YKTestSupport
import YKWire
import YKX509

/// What a list of models adds to a verdict, and keys that previewSign made.
struct ModelTests {
    /// Later than what openssl makes.
    private static let now = Int64(time(nil)) + 3600

    /// A list of one model, signed by openssl as the FIDO Alliance signs its list.
    private func list(_ aaguid: [UInt8], _ status: String, root: [UInt8]) throws -> MetadataPolicy {
        let hex = Hex.encode(aaguid)
        let parts = [
            hex.prefix(8), hex.dropFirst(8).prefix(4), hex.dropFirst(12).prefix(4), hex.dropFirst(16).prefix(4),
        ]
        let identifier = (parts + [hex.suffix(12)]).map(String.init).joined(separator: "-")
        let payload = """
            {"legalHeader":"x","no":1,"nextUpdate":"2999-01-01","entries":[{"aaguid":"\(identifier)","metadataStatement":\
            {"description":"Model","attestationRootCertificates":["\(Base64.encode(root))"]},"statusReports":[{"status":\
            "\(status)","effectiveDate":"2024-01-01"}],"timeOfLastStatusChange":"2024-01-01"}]}
            """
        let made = try shell(
            """
            openssl req -x509 -newkey rsa:2048 -nodes -keyout root.key -subj /CN=root -days 30 -out root.pem
            openssl req -newkey rsa:2048 -nodes -keyout leaf.key -subj /CN=mds.fidoalliance.org -out leaf.csr
            printf 'subjectAltName=DNS:mds.fidoalliance.org\\nbasicConstraints=CA:FALSE\\n' > ext
            openssl x509 -req -in leaf.csr -CA root.pem -CAkey root.key -days 30 -extfile ext -outform der -out leaf.der
            url() { base64 -w 0 | tr '+/' '-_' | tr -d =; }
            printf '{"alg":"RS256","typ":"JWT","x5c":["%s"]}' $(base64 -w 0 leaf.der) | url > jwt
            printf . >> jwt
            url >> jwt
            openssl dgst -sha256 -sign leaf.key -out signature jwt
            (printf .; url < signature) >> jwt
            cat root.pem jwt
            """, input: Array(payload.utf8))
        let anchor = try #require(PEM.contents("CERTIFICATE", in: made).first)
        let text = String(decoding: made, as: UTF8.self)
        let jwt = try #require(text.split(separator: "\n").last)
        return MetadataPolicy(try MetadataBLOB(jwt: Array(jwt.utf8), anchors: [anchor], at: Self.now))
    }

    @Test("the list decides about a credential and the key that previewSign made with it")
    func models() throws {
        let evidence = try Bench.evidence(Bench.fixture("signing-key.json"))
        var judge = AttestationJudge(at: Self.now)
        expect(judge.verdicts(on: evidence).map(\.form), is: [.webAuthn, .signingKey])
        expect(judge.verdicts(on: evidence).map(\.result), is: [.notRooted, .notRooted])
        let root = try #require(judge.verdicts(on: evidence)[0].path.first)
        judge.roots = [root]
        let proven = judge.verdicts(on: evidence)
        #expect(proven.map(\.result) == [.proven, .proven] && proven[0].key != proven[1].key)
        judge.roots = []
        let aaguid = try #require(proven[0].aaguid)
        judge.metadata = try list(aaguid, "FIDO_CERTIFIED_L1", root: root.der)
        let certified = judge.verdicts(on: evidence)
        #expect(
            certified.map(\.result) == [.proven, .proven] && certified.allSatisfy { $0.isRooted && $0.model == "Model" }
        )
        judge.metadata = try list(aaguid, "REVOKED", root: root.der)
        expect(judge.verdicts(on: evidence).map(\.findings), is: [[.status("REVOKED")], [.status("REVOKED")]])
        judge.metadata = try list([UInt8](repeating: 1, count: 16), "FIDO_CERTIFIED_L1", root: root.der)
        expect(judge.verdicts(on: evidence).map(\.findings), is: [[.unknownModel], [.unknownModel]])
        judge.metadata = try list(aaguid, "FIDO_CERTIFIED_L1", root: AttestationChain.yubico.roots[0].der)
        expect(judge.verdicts(on: evidence).map(\.result), is: [.notRooted, .notRooted])
    }

    @Test("certificates that a key leaves out are completed before the list judges")
    func bridges() throws {
        let made = try shell(
            """
            printf 'basicConstraints=critical,CA:TRUE\\n' > ca
            openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout r.key -subj /CN=R -days 900 -out r.pem
            for pair in R:M M:E; do
              openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout ${pair#*:}.key \
                -subj "/C=SE/O=Maker/OU=Authenticator Attestation/CN=${pair#*:}" -out x.csr
              [ $pair = R:M ] && cp r.key R.key && cp r.pem R.pem && ext=ca || { printf 'basicConstraints=CA:FALSE\\n' > leaf; ext=leaf; }
              openssl x509 -req -in x.csr -CA ${pair%:*}.pem -CAkey ${pair%:*}.key -days 900 -extfile $ext -out ${pair#*:}.pem
            done
            cat E.pem M.pem R.pem E.key
            """)
        let certificates = PEM.contents("CERTIFICATE", in: made).compactMap { try? X509Certificate(der: $0) }
        let key = try #require(try KeyFile(made).privateKey)
        let aaguid = [UInt8](repeating: 7, count: 16)
        let credential = AuthenticatorData.AttestedCredential(
            aaguid: aaguid, id: [1],
            publicKey: try COSEKey(subjectPublicKeyInfo: certificates[0].subjectPublicKeyInfo.encoded))
        let data = AuthenticatorData(
            rpIDHash: HashAlgorithm.sha256.hash("ssh:".utf8), flags: .userPresent, counter: 1, credential: credential)
        let challenge = Array("challenge".utf8)
        let signature = try key.sign(data.bytes + HashAlgorithm.sha256.hash(challenge), .sha256)
        let file = SSHAttestation(
            certificate: certificates[0].der, signature: signature, authenticatorData: data
        ).encoded
        var judge = AttestationJudge(at: Self.now)
        judge.challenge = AttestationChallenge(challenge)
        judge.roots = [certificates[2]]
        let evidence = try Bench.evidence(file)
        expect(judge.verdicts(on: evidence)[0].result, is: .notRooted)
        judge.intermediates = [certificates[1]]
        expect(judge.verdicts(on: evidence)[0].result, is: .proven)
        judge.metadata = try list(aaguid, "FIDO_CERTIFIED_L1", root: certificates[2].der)
        let verdict = judge.verdicts(on: evidence)[0]
        #expect(verdict.result == .proven && verdict.path == certificates && verdict.model == "Model")
        var statement = CBOR.Map()
        statement["alg"] = .int(-7)
        statement["sig"] = .bytes(signature)
        statement["x5c"] = [.bytes(certificates[0].der)]
        let object = AttestationObject(format: .packed, authenticatorData: data, statement: statement)
        let hash = HashAlgorithm.sha256.hash(challenge)
        judge = AttestationJudge(at: Self.now)
        expect(judge.completed(object), is: object)
        expect(judge.verdict(on: object, clientDataHash: hash).result, is: .notRooted)
        judge.roots = [certificates[2]]
        judge.intermediates = [certificates[1]]
        expect(judge.completed(object).statement["x5c"]?.array?.count, is: 2)
        let registration = judge.verdict(on: object, clientDataHash: hash)
        #expect(registration.result == .proven && registration.form == .webAuthn && registration.path == certificates)
        expect(judge.verdict(on: object, clientDataHash: challenge).findings, is: [.fido(.badSignature)])
    }
}
