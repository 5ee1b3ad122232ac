// SPDX-License-Identifier: Apache-2.0

import Testing
import YKFIDO
import YKTestSupport
import YKWire

/// Signatures of every algorithm, made with another program.
struct SignatureVectorTests {
    @Test func checksEveryAlgorithm() throws {
        for vector in try Vectors.signatures() {
            let name = vector.testDescription
            if vector.key.algorithm == .rs1 {
                #expect(throws: VerificationProblem.weakAlgorithm(.rs1)) {
                    try vector.key.verify(vector.signature, over: vector.message)
                }
            }
            #expect(throws: Never.self, "\(name)") {
                try vector.key.verify(vector.signature, over: vector.message, allowingSHA1: true)
            }
        }
    }

    @Test func refusesEveryChange() throws {
        for vector in try Vectors.signatures() {
            let name = vector.testDescription
            var signatures: [[UInt8]] = [[], [0], vector.signature + [0], Array(vector.signature.dropLast())]
            for position in stride(from: 0, to: vector.signature.count, by: max(1, vector.signature.count / 40)) {
                var changed = vector.signature
                changed[position] ^= 0x10
                signatures.append(changed)
            }
            for signature in signatures {
                #expect(throws: VerificationProblem.badSignature, "\(name)") {
                    try vector.key.verify(signature, over: vector.message, allowingSHA1: true)
                }
            }
            #expect(throws: VerificationProblem.badSignature, "\(name)") {
                try vector.key.verify(vector.signature, over: vector.message + [0], allowingSHA1: true)
            }
        }
    }

    /// Points off their curve and keys of another length.
    @Test func refusesKeysThatAreNone() throws {
        for vector in try Vectors.signatures() {
            let key: COSEKey
            let algorithm = vector.key.algorithm ?? .es256
            switch vector.key.material {
            case .ec2(let curve, let x, let y):
                key = COSEKey(ec2: curve, algorithm: algorithm, x: x, y: y.dropLast() + [(y.last ?? 0) ^ 1])
            case .other:
                var map = vector.key.map
                map[-1] = .bytes([1, 2, 3])
                key = try COSEKey(decoding: CBOR.map(map).encoded)
            case .okp(.ed448, let x):
                key = COSEKey(okp: .ed448, algorithm: algorithm, x: x.dropLast())
            case .rsa(_, let exponent):
                key = COSEKey(rsaModulus: [UInt8](repeating: 0xFF, count: 64), exponent: exponent, algorithm: algorithm)
            default: continue
            }
            let problem = #expect(throws: VerificationProblem.self, "\(vector.testDescription)") {
                try key.verify(vector.signature, over: vector.message, allowingSHA1: true)
            }
            expect(problem?.kind, is: "badKey", "\(vector.testDescription)")
        }
        let zero = [UInt8](repeating: 0, count: 32)
        for curve in [COSECurve.p256, .secp256k1] {
            let algorithm: COSEAlgorithm = curve == .p256 ? .es256 : .es256K
            let problem = #expect(throws: VerificationProblem.self) {
                try COSEKey(ec2: curve, algorithm: algorithm, x: zero, y: zero).verify([], over: [])
            }
            expect(problem?.kind, is: "badKey")
        }
        #expect(throws: VerificationProblem.badKey("its type or curve is not that of ES384")) {
            try COSEKey(ec2: .p256, algorithm: .es384, x: zero, y: zero).verify([], over: [])
        }
        #expect(throws: VerificationProblem.badKey("its type or curve is not that of EdDSA")) {
            try COSEKey(okp: .x25519, algorithm: .edDSA, x: zero).verify([], over: [])
        }
    }
}
