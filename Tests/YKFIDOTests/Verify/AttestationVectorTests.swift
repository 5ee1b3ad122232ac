// SPDX-License-Identifier: Apache-2.0

import Testing
import YKFIDO
import YKTestSupport
import YKTransport
import YKWire
import YKX509

/// Attestations of every format, made with another program, and what is wrong with most of them.
struct AttestationVectorTests {
    private func verdict(_ vector: Vectors.Attestation) -> String {
        var check = AttestationVerification(rpID: "example.com")
        check.allowsSHA1 = vector.allowsSHA1
        check.anchors = vector.anchors.map { TrustAnchors($0) }
        check.clock = FixedClock(1_800_000_000)
        do {
            _ = try check.check(vector.object, clientDataHash: vector.hash)
            return "ok"
        } catch {
            return error.kind
        }
    }

    @Test func judgesEveryVector() throws {
        let vectors = try Vectors.attestations()
        #expect(vectors.count > 130)
        for vector in vectors { expect(verdict(vector), is: vector.verdict, "\(vector.what)") }
    }

    /// One bit changed anywhere is refused, but for what nobody signs: the count and flags of a U2F credential, and the
    /// type of a CBOR string that is not looked at.
    @Test(arguments: [
        ("packed, path of one", 0), ("tpm P-256, path", 0), ("android-key, path", 0), ("apple, path", 0),
        ("fido-u2f, path", 5),
    ])
    func noBitCanBeChanged(_ what: String, _ unsigned: Int) throws {
        let vector = try #require(try Vectors.attestations().first { $0.what == what })
        let bytes = vector.object.encoded
        var accepted: [Int] = []
        for position in bytes.indices {
            var changed = bytes
            changed[position] ^= 1 << UInt8(position % 8)
            guard let object = try? AttestationObject(decoding: changed) else { continue }
            let other = Vectors.Attestation(
                what: what, verdict: "", object: object, hash: vector.hash, anchors: vector.anchors, allowsSHA1: false)
            if verdict(other) == "ok" { accepted.append(position) }
        }
        #expect(
            accepted.count <= unsigned, "\(accepted.map { Hex.encode(Array(bytes[max(0, $0 - 8)..<$0 + 4])) })")
    }

    @Test func tellsWhatIsAsked() throws {
        let vector = try #require(try Vectors.attestations().first { $0.what == "a path of two" })
        var check = AttestationVerification(rpID: "example.com")
        check.clock = FixedClock(1_800_000_000)
        let anchors = try #require(vector.anchors)
        check.anchors = TrustAnchors { query in
            expect(query.format, is: .packed)
            expect(query.aaguid, is: (0..<16).map { UInt8($0) })
            expect(query.chain.map { $0.subject.attributes.last?.text }, is: ["Batch 1", "Middle"])
            return [[0x30, 0x00], [1, 2, 3]] + anchors
        }
        guard case .certificates(let chain) = try check.check(vector.object, clientDataHash: vector.hash) else {
            Issue.record("no certificates")
            return
        }
        expect(chain.count, is: 2)
        check.requiresUserVerification = true
        check.requiresPresence = false
        _ = try check.check(vector.object, clientDataHash: vector.hash)
    }

    @Test func readsTimes() throws {
        let vector = try #require(try Vectors.attestations().first { $0.what == "packed" })
        let der = try #require(vector.object.statement["x5c"]?.array?.first?.bytes)
        let certificate = try X509Certificate(der: der)
        expect(certificate.notBefore, is: 1_577_836_800)
        expect(certificate.notAfter, is: 3_786_912_000)
        expect(certificate.version, is: 3)
        #expect(
            try certificate.basicConstraints?.isAuthority == false && certificate.basicConstraints?.pathLength == nil)
        for count in 0..<der.count {
            #expect(throws: WireError.self) { try X509Certificate(der: Array(der.prefix(count))) }
        }
    }
}
