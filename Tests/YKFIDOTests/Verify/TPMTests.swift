// SPDX-License-Identifier: Apache-2.0

import Testing
import YKCrypto
import YKTestSupport
import YKTransport
import YKWire
import YKX509

@testable import YKFIDO

/// The structures of a TPM.
struct TPMTests {
    private static func real() throws -> (AttestationStatement, [[UInt8]]) {
        let line = try #require(try Vectors.lines("windows-hello.json").first)
        let object = try AttestationObject(decoding: try Vectors.bytes(line["object"]))
        let statement = AttestationStatement(
            map: object.statement, data: object.authenticatorData,
            credential: try #require(object.authenticatorData.credential),
            clientDataHash: try Vectors.bytes(line["hash"]), allowsSHA1: true)
        return (statement, try #require(line["anchors"]?.array).map { try Vectors.bytes($0) })
    }

    @Test func believesARealTPM() throws {
        var (statement, anchors) = try Self.real()
        guard case .certificates(let chain) = try statement.tpm() else {
            Issue.record("no certificates")
            return
        }
        let path = CertificatePath(try chain.map { try X509Certificate(der: $0) })
        try path.verify(anchors: anchors, at: 1_600_000_000)
        #expect(throws: VerificationProblem.certificate("certificate has expired")) {
            try path.verify(anchors: anchors, at: 1_900_000_000)
        }
        #expect(throws: VerificationProblem.untrusted) { try path.verify(anchors: [], at: 1_600_000_000) }
        statement.allowsSHA1 = false
        #expect(throws: VerificationProblem.weakAlgorithm(.rs1)) { try statement.tpm() }
    }

    @Test func readsWhatATPMSigned() throws {
        let (statement, _) = try Self.real()
        let info = try #require(statement.map["certInfo"]?.bytes)
        let certification = try TPMCertification(decoding: info)
        expect(certification.signer.count, is: 34)
        expect(certification.extraData.count, is: 20)
        #expect(certification.clock.isSafe && certification.firmware != 0)
        let area = try TPMPublicArea(decoding: try #require(statement.map["pubArea"]?.bytes))
        #expect(area.attributes == 0x60472 && area.policy.count == 32 && area.nameAlgorithm.hash == .sha256)
        guard case .rsa(let modulus, let exponent) = area.key else {
            Issue.record("not RSA")
            return
        }
        #expect(modulus.count == 256 && exponent == 65537)
        expect(certification, is: (try TPMCertification(decoding: info)))
        expect(Set([certification]).count, is: 1)
        for count in 0..<info.count {
            #expect(throws: WireError.self) { try TPMCertification(decoding: Array(info.prefix(count))) }
        }
        for count in 0..<area.bytes.count {
            #expect(throws: WireError.self) { try TPMPublicArea(decoding: Array(area.bytes.prefix(count))) }
        }
    }
}
