// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import YKCrypto
import YKOATH
import YKTestSupport
import YKWire

/// Key wrapping, and the key containers that use it.
@Suite struct KeyWrapTests {
    /// RFC 3394 §4.1 to §4.6, and RFC 5649 §6.
    private static let vectors: [(String, String, String)] = [
        (
            "000102030405060708090A0B0C0D0E0F", "00112233445566778899AABBCCDDEEFF",
            "1FA68B0A8112B447AEF34BD8FB5A7B829D3E862371D2CFE5"
        ),
        (
            "000102030405060708090A0B0C0D0E0F1011121314151617", "00112233445566778899AABBCCDDEEFF",
            "96778B25AE6CA435F92B5B97C050AED2468AB8A17AD84E5D"
        ),
        (
            "000102030405060708090A0B0C0D0E0F101112131415161718191A1B1C1D1E1F",
            "00112233445566778899AABBCCDDEEFF0001020304050607",
            "A8F9BC1612C68B3FF6E6F4FBE30E71E4769C8B80A32CB8958CD5D17D6B254DA1"
        ),
        (
            "5840df6e29b02af1ab493b705bf16ea1ae8338f4dcc176a8", "c37b7e6492584340bed12207808941155068f738",
            "138bdeaa9b8fa7fc61f97742e72248ee5ae6ae5360d1ae6a5f54f373fa543b6a"
        ),
        ("5840df6e29b02af1ab493b705bf16ea1ae8338f4dcc176a8", "466f7250617369", "afbeb0f07dfbf5419200f2ccb50bb24f"),
    ]

    @Test(arguments: vectors)
    func unwraps(_ key: String, _ plain: String, _ wrapped: String) throws {
        let key = Secret(try Hex.decode(key))
        let wrapped = try Hex.decode(wrapped)
        expect(AESKeyWrap.unwrap(wrapped, key: key), is: (try Hex.decode(plain)))
        for place in wrapped.indices {
            var changed = wrapped
            changed[place] ^= 1
            expect(AESKeyWrap.unwrap(changed, key: key), is: nil, "byte \(place)")
        }
        for count in 0..<wrapped.count { expect(AESKeyWrap.unwrap(Array(wrapped.prefix(count)), key: key), is: nil) }
        expect(AESKeyWrap.unwrap(wrapped, key: Secret([1])), is: nil)
    }

    /// Written by python-pskc, which names no algorithm for the message authentication code of wrapped keys.
    @Test func aContainerOfPython() throws {
        let bytes = Recordings.fixture("codes/psk-kw-aes128.pskc")
        let container = try PSKC(
            parsing: bytes, unlocking: .presharedKey(SharedSecret(Secret(Array(0..<16)))))
        let account = try container.keys[0].account.get()
        expect(account.id, is: OATHAccountID(issuer: "Acme", name: "k1"))
        expect(account.secret.value.copyBytes(), is: Array("12345678901234567890".utf8))
        #expect(throws: PSKCError.wrongKey) {
            try PSKC(parsing: bytes, unlocking: .presharedKey(SharedSecret(Secret(Array(1..<17)))))
        }
    }

    private static func container(_ algorithm: String, _ format: String, _ counter: String) -> [UInt8] {
        Array(
            """
            <KeyContainer><KeyPackage><Key Id="1" Algorithm="\(algorithm)"><Issuer>I</Issuer><AlgorithmParameters>\
            <ResponseFormat Length="6" Encoding="DECIMAL" \(format)/></AlgorithmParameters><Data><Secret><PlainValue>MTIz\
            </PlainValue></Secret><Counter><PlainValue>\(counter)</PlainValue></Counter></Data></Key></KeyPackage>\
            </KeyContainer>
            """.utf8)
    }

    @Test("algorithms and counters of the drafts of RFC 6030")
    func drafts() throws {
        for algorithm in [
            "http://www.ietf.org/keyprov/pskc#hotp", "urn:ietf:params:xml:ns:keyprov:pskc#hotp",
            "urn:ietf:params:xml:ns:keyprov:pskc:hotp",
        ] {
            for counter in ["5", "AAAAAAAAAAU="] {
                let account = try PSKC(parsing: Self.container(algorithm, "", counter)).keys[0].account.get()
                #expect(account.id.type == .hotp && account.counter == 5)
            }
        }
        #expect(throws: PSKCError.field("Counter", "")) {
            _ = try PSKC(parsing: Self.container("hotp", "", "AAAAAAAAAAAAAAU=")).keys[0].account.get()
        }
    }

    @Test("codes with a check digit are refused, which a key cannot append (RFC 6030 §4.3.4)")
    func checkDigits() throws {
        for value in ["true", "1"] {
            #expect(throws: PSKCError.field("CheckDigits", "true")) {
                _ = try PSKC(parsing: Self.container("hotp", "CheckDigits=\"\(value)\"", "0")).keys[0].account.get()
            }
        }
        _ = try PSKC(parsing: Self.container("hotp", "CheckDigits=\"false\"", "0")).keys[0].account.get()
    }
}
