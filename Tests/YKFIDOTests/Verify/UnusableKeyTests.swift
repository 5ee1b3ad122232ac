// SPDX-License-Identifier: Apache-2.0

import Testing
import YKCrypto
import YKFIDO
import YKTestSupport
import YKWire

/// Registrations whose public key can verify no assertion.
struct UnusableKeyTests {
    private static let point = Operation.validPoint

    /// A registration of format `none` with this public key.
    private func check(_ map: CBOR.Map, allowingSHA1: Bool = false) throws {
        let key = try COSEKey(decoding: CBOR.map(map).encoded)
        let data = AuthenticatorData(
            rpIDHash: HashAlgorithm.sha256.hash("example.com".utf8), flags: .userPresent, counter: 0,
            credential: .init(aaguid: .init(repeating: 0, count: 16), id: [1], publicKey: key))
        let object: CBOR = ["fmt": "none", "attStmt": [:], "authData": .bytes(data.bytes)]
        var verification = AttestationVerification(rpID: "example.com")
        verification.allowsSHA1 = allowingSHA1
        _ = try verification.check(try AttestationObject(decoding: object.encoded), clientDataHash: hash)
    }

    private func refuses(_ map: CBOR.Map, _ kind: String, _ what: String) {
        let problem = #expect(throws: VerificationProblem.self, "\(what)") { try check(map) }
        expect(problem?.kind, is: kind, "\(what)")
    }

    private static let ec2: CBOR.Map = [
        1: 2, 3: -7, -1: 1, -2: .bytes(Array(point[1..<33])), -3: .bytes(Array(point[33...])),
    ]
    private static let rsa: CBOR.Map = [
        1: 3, 3: -257, -1: .bytes([0xC1] + .init(repeating: 0x35, count: 255)), -2: .bytes([1, 0, 1]),
    ]
    private static let okp: CBOR.Map = [
        1: 1, 3: -8, -1: 6,
        -2: .bytes((try? Hex.decode("d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a")) ?? []),
    ]

    @Test func acceptsUsableKeys() throws {
        for key in [Self.ec2, Self.rsa, Self.okp, Self.ec2.with(3, -9), Self.okp.with(3, -19), Self.rsa.with(3, -37)] {
            try check(key)
        }
    }

    @Test("type, curve and algorithm have to agree", arguments: [-257, -8, -35, -36, -47, -49, -65535])
    func refusesOtherAlgorithms(_ algorithm: Int64) {
        refuses(Self.ec2.with(3, .int(algorithm)), algorithm == -65535 ? "weak" : "badKey", "EC2 with \(algorithm)")
    }

    @Test func refusesOtherTypes() {
        refuses(Self.rsa.with(3, -7), "badKey", "RSA with ES256")
        refuses(Self.okp.with(3, -7), "badKey", "OKP with ES256")
        refuses(Self.okp.with(-1, 4), "badKey", "X25519 with EdDSA")
        refuses(Self.okp.with(3, -257), "badKey", "OKP with RS256")
        refuses(Self.ec2.with(3, 0), "unsupportedAlgorithm", "an unknown algorithm")
        for algorithm in [-48, -49, -50] as [Int64] {
            refuses([1: 7, 3: .int(algorithm), -1: .bytes([1])], "badKey", "an ML-DSA key of one byte")
        }
        var unnamed = Self.ec2
        unnamed[3] = nil
        refuses(unnamed, "badKey", "no algorithm")
    }

    @Test("a public key has no other parameters", arguments: [-4, 2, 4, 5, 99] as [Int64])
    func refusesOtherParameters(_ parameter: Int64) {
        for key in [Self.ec2, Self.okp, Self.rsa] {
            refuses(key.with(.int(parameter), .bytes([1])), "badKey", "parameter \(parameter)")
        }
        refuses(Self.rsa.with(-3, .bytes([1])), "badKey", "a private part of RSA")
    }

    @Test func refusesAlgorithmsWithSHA1UnlessAllowed() throws {
        refuses(Self.rsa.with(3, -65535), "weak", "RS1")
        try check(Self.rsa.with(3, -65535), allowingSHA1: true)
    }

    @Test(
        "Ed25519 keys of small order",
        arguments: [
            "0000000000000000000000000000000000000000000000000000000000000000",
            "0100000000000000000000000000000000000000000000000000000000000000",
            "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
            "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
            "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
            "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
            "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        ])
    func refusesSmallOrder(_ hex: String) throws {
        for sign: UInt8 in [0, 0x80] {
            var bytes = try Hex.decode(hex)
            bytes[31] |= sign
            refuses(Self.okp.with(-2, .bytes(bytes)), "badKey", hex)
            #expect(throws: CryptoFault.self) { try VerificationKey(ed25519: bytes) }
            // R = 1 and S = 0, which OpenSSL accepts under the neutral element for every message.
            let constant: [UInt8] = [1] + .init(repeating: 0, count: 63)
            #expect(!PublicKey.ed25519(bytes).isValid(constant, for: [1, 2, 3], .sha512))
        }
    }

    @Test(
        "Ed25519 keys that are no points: no x for y, y not below p, a sign of zero (RFC 8032 §5.1.3)",
        arguments: [
            "0200000000000000000000000000000000000000000000000000000000000000",
            "0700000000000000000000000000000000000000000000000000000000000080",
            "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
            "f0ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
            "ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
            "0100000000000000000000000000000000000000000000000000000000000080",
        ])
    func refusesWhatIsNoPoint(_ hex: String) throws {
        let bytes = try Hex.decode(hex)
        refuses(Self.okp.with(-2, .bytes(bytes)), "badKey", hex)
        let key = PublicKey.ed25519(bytes)
        #expect(!key.isPoint)
        #expect(!key.isValid(.init(repeating: 0, count: 64), for: [1], .sha512))
        #expect(throws: CryptoFault.self) { try PublicKey(subjectPublicKeyInfo: key.subjectPublicKeyInfo) }
    }

    @Test("Ed448 keys that are no points (RFC 8032 §5.2.3)")
    func refusesWhatIsNoPointOfEd448() throws {
        for y: UInt8 in [2, 6, 11] {
            #expect(throws: CryptoFault("Ed448: not a public key")) {
                try VerificationKey(ed448: [y] + .init(repeating: 0, count: 56))
            }
        }
        for y: UInt8 in [3, 7, 12] { _ = try VerificationKey(ed448: [y] + .init(repeating: 0, count: 56)) }
    }

    @Test("Ed448 keys of small order")
    func refusesSmallOrderOfEd448() throws {
        let minusOne = [0xFE] + .init(repeating: 0xFF, count: 27) + [0xFE] + [UInt8](repeating: 0xFF, count: 27) + [0]
        for y in [.init(repeating: 0, count: 57), [1] + .init(repeating: 0, count: 56), minusOne] {
            #expect(throws: CryptoFault("Ed448: a point of small order")) { try VerificationKey(ed448: y) }
        }
    }
}

extension Operation {
    /// The base point of P-256: 04, x, y.
    fileprivate static let validPoint: [UInt8] =
        (try? Hex.decode(
            "046b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296"
                + "4fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5")) ?? []
}
