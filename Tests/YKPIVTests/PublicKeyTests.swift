// SPDX-License-Identifier: Apache-2.0

import Testing
import YKTestSupport
import YKWire

@testable import YKCrypto

/// Public keys as OpenSSL writes them.
struct PublicKeyTests {
    @Test(arguments: [
        ["ed25519"], ["x25519"], ["EC", "-pkeyopt", "ec_paramgen_curve:P-256"],
        ["EC", "-pkeyopt", "ec_paramgen_curve:P-384"], ["EC", "-pkeyopt", "ec_paramgen_curve:P-521"],
        ["RSA", "-pkeyopt", "rsa_keygen_bits:1024"], ["RSA", "-pkeyopt", "rsa_keygen_bits:2048"],
        ["RSA", "-pkeyopt", "rsa_keygen_bits:1024", "-pkeyopt", "rsa_keygen_pubexp:3"],
        ["RSA", "-pkeyopt", "rsa_keygen_bits:1020"],
    ])
    func readsWhatOpenSSLWrites(_ kind: [String]) throws {
        let secret = try run(["openssl", "genpkey", "-outform", "DER", "-algorithm"] + kind).output
        let written = try run(["openssl", "pkey", "-inform", "DER", "-pubout", "-outform", "DER"], input: secret).output
        let key = try PublicKey(subjectPublicKeyInfo: written)
        expect(key, is: (try PrivateKey(der: Secret(secret))).publicKey)
        expect(key.subjectPublicKeyInfo, is: written)
    }

    @Test(
        "curve parameters that are written out have the right cofactor", arguments: ["prime256v1", "brainpoolP384r1"])
    func readsExplicitParameters(_ curve: String) throws {
        let sec1 = try run(
            ["openssl", "genpkey", "-outform", "DER", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:\(curve)"]
                + ["-pkeyopt", "ec_param_enc:explicit"]
        ).output
        let pkcs8 = try run(
            ["openssl", "pkcs8", "-topk8", "-nocrypt", "-inform", "DER", "-outform", "DER"], input: sec1
        ).output
        let written = try run(["openssl", "pkey", "-inform", "DER", "-pubout", "-outform", "DER"], input: sec1).output
        for (der, isPrivate) in [(sec1, true), (pkcs8, true), (written, false)] {
            func read(_ der: [UInt8]) throws -> PublicKey {
                isPrivate ? try PrivateKey(der: Secret(der)).publicKey : try PublicKey(subjectPublicKeyInfo: der)
            }
            _ = try read(der)
            // The parameters follow the algorithm's name, or are tagged in SEC 1; the cofactor is their last number.
            var parts = try TLV.list(TLV.list(der)[0].value)
            let place = try #require(parts.firstIndex { $0.tag == 0x30 || $0.tag == 0xA0 })
            let outer = try TLV.list(parts[place].value)
            let parameters = try TLV.list(try #require(outer.last).value)
            expect(parameters.last, is: TLV(0x02, [1]))
            for last in [[], [TLV(0x02, [2])], [TLV(0x02, [0])], [TLV(0x02, [0xFF])]] {
                let changed = TLV(0x30, (parameters.dropLast() + last).flatMap { (part: TLV) in part.encoded })
                parts[place] = TLV(
                    parts[place].tag, (outer.dropLast() + [changed]).flatMap { (part: TLV) in part.encoded })
                let file = TLV(0x30, parts.encoded).encoded
                #expect(throws: CryptoFault("curve parameters without the right cofactor")) { try read(file) }
            }
        }
    }

    @Test("two numbers of a signature are as long as the curve's field", arguments: VerificationKey.Curve.allCases)
    func convertsSignatures(_ curve: VerificationKey.Curve) throws {
        let size = curve.fieldSize
        let numbers = [UInt8](repeating: 0, count: size - 1) + [5] + [UInt8](repeating: 0, count: size - 1) + [6]
        expect(
            VerificationKey.derSignature(concatenated: numbers, curve),
            is: [
                0x30, 0x06, 0x02, 0x01, 0x05, 0x02, 0x01, 0x06,
            ])
        for count in [0, 2, 2 * size - 2, 2 * size - 1, 2 * size + 1, 2 * size + 2] {
            expect(VerificationKey.derSignature(concatenated: .init(repeating: 1, count: count), curve), is: nil)
        }
    }

    @Test func refusesWhatIsTruncatedOrLies() throws {
        let keys = [
            try PrivateKey(newRSA: 1024).publicKey,
            try PrivateKey(.p256, scalar: Secret([UInt8](repeating: 0, count: 31) + [7])).publicKey,
            .ed25519([UInt8](repeating: 9, count: 32)),
        ]
        for (key, der) in keys.map({ ($0, $0.subjectPublicKeyInfo) }) {
            #expect(PublicKey.common(der) == key && PublicKey.common(der + [0]) == nil)
            for count in 0..<der.count {
                expect(PublicKey.common(Array(der.prefix(count))), is: nil)
            }
            for index in 0..<min(der.count, 40) {
                for byte: UInt8 in [0, 0x7F, 0x80, 0x83, 0x84, 0xFF] where der[index] != byte {
                    var other = der
                    other[index] = byte
                    if let key = PublicKey.common(other) { expect(key.subjectPublicKeyInfo, is: other) }
                }
            }
        }
        expect(PublicKey.common(PublicKey.rsa(modulus: [], exponent: []).subjectPublicKeyInfo), is: nil)
    }

    /// What a card signs is checked before it is handed out: right and wrong results of each kind of key.
    @Test func knowsTheResultOfARawOperation() throws {
        let digest = HashAlgorithm.sha256.hash([1])
        let other = HashAlgorithm.sha256.hash([2])
        let curve = try PrivateKey(.p256, scalar: Secret([UInt8](repeating: 0, count: 31) + [7]))
        let signature = try curve.sign(digest: digest)
        expect(curve.publicKey.isResult(signature, of: digest), is: true)
        expect(curve.publicKey.isResult(signature, of: other), is: false)
        expect(curve.publicKey.isResult([], of: digest), is: false)
        for other in VerificationKey.Curve.allCases {
            let key = try PrivateKey(other, scalar: Secret([UInt8](repeating: 0, count: other.fieldSize - 1) + [7]))
            let signature = try key.sign(digest: digest)
            expect(key.publicKey.isResult(signature, of: digest), is: true, "\(other)")
            expect(key.publicKey.isResult(signature, of: [0] + digest.dropFirst()), is: false, "\(other)")
            expect(key.publicKey.isResult(Array(signature.dropLast()), of: digest), is: false, "\(other)")
            let nowhere = PublicKey.ec(other, point: [0x04] + [UInt8](repeating: 1, count: 2 * other.fieldSize))
            expect(nowhere.isResult(signature, of: digest), is: nil, "\(other)")
        }
        let edwards = try PrivateKey(ed25519: Secret([UInt8](repeating: 5, count: 32)))
        let signed = try edwards.sign([1, 2, 3], .sha256)
        expect(edwards.publicKey.isResult(signed, of: [1, 2, 3]), is: true)
        expect(edwards.publicKey.isResult(signed, of: [1, 2]), is: false)
        let rsa = try PrivateKey(newRSA: 1024)
        let block = [0] + [UInt8](repeating: 1, count: 127)
        let result = try rsa.rsaPrivate(block)
        expect(rsa.publicKey.isResult(result, of: block), is: true)
        expect(rsa.publicKey.isResult(result, of: [0] + [UInt8](repeating: 2, count: 127)), is: false)
        expect(rsa.publicKey.isResult([UInt8](repeating: 0xFF, count: 128), of: block), is: false)
        expect(rsa.publicKey.isResult([], of: block), is: false)
        expect(PublicKey.x25519([UInt8](repeating: 9, count: 32)).isResult(signed, of: [1]), is: nil)
    }

    /// Hashes of a message in pieces, and RSA signatures over it.
    @Test(arguments: HashAlgorithm.allCases)
    func hashesInPieces(_ algorithm: HashAlgorithm) throws {
        let message = [UInt8](repeating: 3, count: 1000)
        var hash = RunningHash(algorithm)
        for piece in [message[..<1], message[1..<700], message[700...]] { hash.update(Array(piece)) }
        #expect(hash == RunningHash(algorithm, of: message) && hash != RunningHash(algorithm, of: [3]))
        #expect(hash.digest == algorithm.hash(message) && hash.digest == hash.digest)
        for size in [1020, 2048] {
            let made = [
                "openssl", "genpkey", "-outform", "DER", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:\(size)",
            ]
            let secret = try PrivateKey(der: Secret(try run(made).output))
            let key = secret.publicKey
            let signature = try secret.sign(message, algorithm)
            #expect(key.isValid(signature, for: message, algorithm))
            #expect(!key.isValid(signature, for: message + [3], algorithm))
            #expect(!key.isValid(Array(signature.dropLast()), for: message, algorithm))
        }
    }

    @Test func readsACompressedPoint() throws {
        let scalar = Secret([UInt8](repeating: 0, count: 31) + [7])
        let key = try PrivateKey(.p256, scalar: scalar).publicKey
        let compress = [
            "openssl", "pkey", "-pubin", "-inform", "DER", "-outform", "DER", "-ec_conv_form", "compressed",
        ]
        let written = try run(compress, input: key.subjectPublicKeyInfo).output
        expect(written.count, is: 59)
        try expect(PublicKey(subjectPublicKeyInfo: written), is: key)
    }

    @Test(arguments: [VerificationKey.Curve.p256, .p384, .p521])
    func refusesPointsOffTheirCurve(_ curve: VerificationKey.Curve) throws {
        let scalar = Secret([UInt8](repeating: 0, count: curve.fieldSize - 1) + [7])
        guard case .ec(_, var point) = try PrivateKey(curve, scalar: scalar).publicKey else { return }
        let key = PublicKey.ec(curve, point: point)
        try expect(PublicKey(subjectPublicKeyInfo: key.subjectPublicKeyInfo), is: key)
        point[point.count - 1] ^= 1
        #expect(throws: CryptoFault.self) {
            try PublicKey(subjectPublicKeyInfo: PublicKey.ec(curve, point: point).subjectPublicKeyInfo)
        }
    }
}
