// SPDX-License-Identifier: Apache-2.0

import Testing
import YKTestSupport
import YKWire

@testable import YKCrypto

/// Private keys as OpenSSL writes them.
struct PrivateKeyTests {
    private static let kinds =
        [["ed25519"], ["x25519"]]
        + VerificationKey.Curve.allCases.map { ["EC", "-pkeyopt", "ec_paramgen_curve:\($0.openSSLName)"] }

    @Test(arguments: kinds) func readsWhatOpenSSLWrites(_ kind: [String]) throws {
        let made = try run(["openssl", "genpkey", "-outform", "DER", "-algorithm"] + kind).output
        let convert = ["openssl", "pkcs8", "-topk8", "-nocrypt", "-inform", "DER", "-outform", "DER"]
        let written = try run(convert, input: made).output
        let key = try #require(PrivateKey.common(written))
        expect(key.der.value.copyBytes(), is: written)
        try expect(PrivateKey(OpenSSLKey(privateDER: written)), is: key)
        expect(PrivateKey.common(written + [0]), is: nil)
        for count in 0..<written.count { expect(PrivateKey.common(Array(written.prefix(count))), is: nil) }
        for index in 0..<min(written.count, 40) {
            for byte: UInt8 in [0, 0x7F, 0x80, 0x83, 0xFF] where written[index] != byte {
                var other = written
                other[index] = byte
                if let key = PrivateKey.common(other) { expect(key.der.value.copyBytes(), is: other) }
            }
        }
    }

    @Test("SEC 1, without the public key as well", arguments: [[], ["-no_public"]])
    func readsCurveKeys(_ options: [String]) throws {
        let key = try PrivateKey(.p384, scalar: Secret([7]))
        let written = try run(
            ["openssl", "ec", "-inform", "DER", "-outform", "DER"] + options, input: key.der.value.copyBytes()
        ).output
        expect(PrivateKey.common(written), is: nil)
        try expect(PrivateKey(der: Secret(written)), is: key)
    }

    @Test func refusesThePublicKeyOfAnother() throws {
        let key = try PrivateKey(.p256, scalar: Secret([7]))
        guard case .ec(_, let point) = try PrivateKey(.p256, scalar: Secret([8])).publicKey else { return }
        let der = key.der.value.copyBytes().dropLast(point.count) + point
        #expect(throws: CryptoFault("not a private key: its public key is another's")) {
            try PrivateKey(der: Secret(der))
        }
    }

    @Test(arguments: VerificationKey.Curve.allCases)
    func refusesScalarsOutOfRange(_ curve: VerificationKey.Curve) {
        for scalar in [[], [0], [UInt8](repeating: 0xFF, count: curve.fieldSize), [1] + .init(repeating: 0, count: 80)]
        {
            #expect(throws: CryptoFault("\(curve): not a private key")) {
                try PrivateKey(curve, scalar: Secret(scalar))
            }
        }
    }
}
