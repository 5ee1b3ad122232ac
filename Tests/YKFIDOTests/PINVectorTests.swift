// SPDX-License-Identifier: Apache-2.0

import Testing
import YKCrypto
import YKFIDO
import YKTestSupport
import YKWire

/// Figures made by running python-fido2 2.2.1 and Python's unicodedata; AES-GCM and HKDF from their own documents.
struct PINVectorTests {
    private static let x = "07b61d3c424b299408a72ea6a59f153e74a3125b5811716edb32222b46b4f02c"
    private static let y = "4d5eb906055fc8ea49ae0c061ab69d66942ffcf77c75c47c1032c9f43fc532b6"

    private func shared(_ version: PINProtocol) throws -> PINSharedKey {
        let scalar = Secret(HashAlgorithm.sha256.hash("platform".utf8))
        let own = try P256KeyAgreement(scalar: scalar)
        #expect(
            Hex.encode(own.publicPoint.prefix(32) + [])
                == "f6882701b492e3e25ab005bc12168ecba2bcb0d0e645911e19a78cc735067e80")
        return try PINSharedKey(version, common: try own.shared(with: try Hex.decode(Self.x + Self.y)))
    }

    @Test(arguments: [
        (
            PINProtocol.one,
            "0ea9442b76455c93b3255c7b4509f79fa918d294efbac3c2e86dd06443c9dcdfa240b3095b67f96e61061cff04b6af317ef52840"
                + "8898b595c40bfa0db5d75784", "1fb5030b891f5bcca22b02a0561464c3", "53c40272a70c15ca4ee0af4df1f155fd"
        ),
        (
            .two,
            "000102030405060708090a0b0c0d0e0f55fe791d98cf1418af4f702d77cc6edc0d4aa9af099c6052c6f05390c0ea70becdc83224"
                + "abbdd84dc1bda31b62930120d33c05f8f528a697d464baa3dfb34867",
            "e9aa98376cc420bd5618470fdba8b443bf4981565d675f25ba3b3fc3a9cb0c8f",
            "53c40272a70c15ca4ee0af4df1f155fd6c41e00ce2307d8987ecd4bb36a7e990"
        ),
    ])
    func agreesWithPythonFido2(
        _ version: PINProtocol, _ encrypted: String, _ proof: String, _ tokenProof: String
    ) throws {
        let shared = try shared(version)
        let plain = (0..<64).map { UInt8($0) }
        let vector = (0..<UInt8(shared.vectorSize)).map { $0 }
        expect(Hex.encode(try shared.encrypt(plain, vector: vector)), is: encrypted)
        try expect(shared.decrypt(Hex.decode(encrypted)), is: plain)
        expect(Hex.encode(shared.authenticate(Array("hello".utf8))), is: proof)
        let token = Secret((0..<32).map { UInt8($0) })
        expect(Hex.encode(version.authenticate(Array("hello".utf8), key: token)), is: tokenProof)
        for count in [0, 1, 15, 17, 31, 33] {
            #expect(throws: CryptoFault.self) { try shared.decrypt([UInt8](repeating: 0, count: count)) }
        }
    }

    @Test func refusesPointsOffTheCurve() throws {
        let own = try P256KeyAgreement(scalar: Secret([UInt8](repeating: 1, count: 32)))
        for point in [
            [], [UInt8](repeating: 0, count: 64), [UInt8](repeating: 1, count: 64), [1],
            [UInt8](repeating: 2, count: 65),
        ] {
            #expect(throws: CryptoFault.self) { _ = try own.shared(with: point) }
        }
        for count in [0, 31, 33] {
            #expect(throws: CryptoFault.self) {
                try P256KeyAgreement(scalar: Secret([UInt8](repeating: 1, count: count)))
            }
        }
        #expect(throws: CryptoFault.self) { try P256KeyAgreement(scalar: Secret([UInt8](repeating: 0, count: 32))) }
        #expect(throws: CryptoFault.self) { try P256KeyAgreement(scalar: Secret([UInt8](repeating: 0xFF, count: 32))) }
    }

    @Test(arguments: [
        ("41cc8acc81", "c7ba"), ("e1ba9bcca3", "e1ba9bcca3"), ("e18480e185a1e186a8", "eab081"),
        ("71cc87cca3", "71cca3cc87"), ("e0a598", "e0a495e0a4bc"), ("65cc81cc81", "c3a9cc81"), ("e284a6", "cea9"),
        ("e284ab", "c385"), ("efac9d", "d799d6b4"), ("f09d859e", "f09d8597f09d85a5"),
        ("61cc95cc80d6aecc8062", "c3a0d6aecc80cc9562"), ("ff00fe", "ff00fe"),
    ])
    func normalises(_ typed: String, _ sent: String) throws {
        expect(Hex.encode(PINText(Secret(try Hex.decode(typed))).bytes.copyBytes()), is: sent)
    }

    /// RFC 5869, test case 1.
    @Test func derives() throws {
        let key = try HashAlgorithm.sha256.hkdf(
            Secret([UInt8](repeating: 0x0B, count: 22)), salt: (0...12).map { UInt8($0) },
            info: (0xF0...0xF9).map { UInt8($0) }, length: 42)
        #expect(
            Hex.encode(key.copyBytes())
                == "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf34007208d5b887185865")
    }
}
