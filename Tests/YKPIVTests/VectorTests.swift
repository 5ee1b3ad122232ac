// SPDX-License-Identifier: Apache-2.0

import Testing
import YKCrypto
import YKPIV
import YKTestSupport
import YKTransport
import YKVirtualKey
import YKWire

/// Published vectors, on the card's side through the virtual key where a private key takes part.
struct VectorTests {
    @Test func blockCiphers() throws {
        let tripleDES = Secret(try bytes("0123456789abcdef23456789abcdef01456789abcdef0123"))
        let plain = try bytes("5468652071756663")  // NIST SP 800-67, appendix B
        let sealed = try BlockCipher.tripleDES.encrypt(plain, key: tripleDES)
        expect(Hex.encode(sealed), is: "a826fd8ce53b855f")
        try expect(BlockCipher.tripleDES.decrypt(sealed, key: tripleDES), is: plain)
        let aes = Secret(Array(0..<16))  // FIPS 197, appendix C.1
        let block = try BlockCipher.aes.encrypt(bytes("00112233445566778899aabbccddeeff"), key: aes)
        expect(Hex.encode(block), is: "69c4e0d86a7b0430d8cdb78070b4c55a")
        #expect(throws: CryptoFault.self) { try BlockCipher.aes.encrypt([1], key: aes) }
        #expect(throws: CryptoFault.self) { try BlockCipher.tripleDES.encrypt(plain, key: aes) }
        #expect(throws: CryptoFault.self) { try BlockCipher.tripleDES.decrypt([1], key: tripleDES) }
    }

    @Test func x25519() async throws {  // RFC 7748 §6.1
        let bob = Secret(try bytes("5dab087e624a8a4b79e17f8b83800ee66f3bb1292618b6fd1c2f8b27ff88e0eb"))
        let alice = try bytes("8520f0098930a754748b7ddcb43ef75a0dbf3a0d26381af4eba4a98eaa9b4e6a")
        let service = try await Bench().manage()
        let key = try PrivateKey(x25519: bob)
        _ = try await service.importKey(key, .keyManagement, policies: KeyPolicies(pin: .never))
        let secret = try await service.derive(with: .x25519(alice), .keyManagement)
        expect(
            Hex.encode(secret.value.copyBytes()), is: "4a5d9d5ba4ce2de1728e3bf480350f25e07e21c947d19e3376f09b3c1e161742"
        )
        try await expect(service.publicKey(.keyManagement), is: key.publicKey)
    }

    @Test func ed25519() async throws {  // RFC 8032 §7.1, test 1
        let seed = Secret(try bytes("9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60"))
        let key = try PrivateKey(ed25519: seed)
        let point = try bytes("d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a")
        expect(key.publicKey, is: .ed25519(point))
        let service = try await Bench().manage()
        _ = try await service.importKey(key, .authentication, policies: KeyPolicies(pin: .never))
        let signature = try await service.sign(.message([]), .authentication)
        let first = "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46b"
        expect(Hex.encode(signature), is: first + "d25bf5f0595bbe24655141438e7a100b")
    }

    @Test func ecdsa() async throws {  // RFC 6979 §A.2.5
        let number = Secret(try bytes("c9afa9d845ba75166b5c215767b1d6934e50c3db36e89b127b8a622b120f6721"))
        let key = try PrivateKey(.p256, scalar: number)
        let x = try bytes("60fed4ba255a9d31c961eb74c6356d68c049b8923b61fa6ce669622e60f29fb6")
        let y = try bytes("7903fe1008b8bc99a41ae9e95628bc64f2f1b20c2d7e9f5177a3c294d4462299")
        expect(key.publicKey, is: .ec(.p256, point: [4] + x + y))
        let signature = try bytes(
            """
            3046022100efd48b2aacb6a8fd1140dd9cd45e81d69d2c877b56aaf991c34d0ea84eaf3716
            022100f7cb1c942d657c41d436c7a1b6e29f65f3e900dbb9aff4064dc4ab2f843acda8
            """)
        #expect(key.publicKey.isValid(signature, for: Array("sample".utf8), .sha256))
        let service = try await Bench().manage()
        _ = try await service.importKey(key, .authentication, policies: KeyPolicies(pin: .never))
        let ours = try await service.sign(.message(Array("sample".utf8)), .authentication)
        #expect(key.publicKey.isValid(ours, for: Array("sample".utf8), .sha256))
    }

    @Test func ecdh() async throws {  // NIST CAVP, ECC CDH P-256, count 0
        let number = Secret(try bytes("7d7dc5f71eb29ddaf80d6214632eeae03d9058af1fb6d22ed80badb62bc1a534"))
        let x = try bytes("700c48f77f56584c5cc632ca65640db91b6bacce3a4df6b42ce7cc838833d287")
        let y = try bytes("db71e509e3fd9b060ddb20ba5c51dcc5948d46fbf640dfe0441782cab85fa4ac")
        let service = try await Bench().manage()
        _ = try await service.importKey(PrivateKey(.p256, scalar: number), .keyManagement)
        try await service.verify(pin())
        let secret = try await service.derive(with: .ec(.p256, point: [4] + x + y), .keyManagement)
        expect(
            Hex.encode(secret.value.copyBytes()), is: "46fc62106420ff012e54a434fbdd2d25ccc5852060561e68040dd7778997bd7b"
        )
        await #expect(throws: PIVError.self) {
            try await service.derive(with: .ec(.p256, point: [4] + x + x), .keyManagement)
        }
    }

    @Test func unpadsWithoutTellingWhatIsWrong() throws {
        let fill = [UInt8](repeating: 7, count: 100)
        try expect(RSAUnpadding.pkcs1([0, 2] + fill + [0, 1, 2]).copyBytes(), is: [1, 2])
        #expect(try RSAUnpadding.pkcs1([0, 2] + fill + [0]).isEmpty)
        try expect(RSAUnpadding.pkcs1([0, 2] + fill.prefix(8) + [0, 5, 0, 6]).copyBytes(), is: [5, 0, 6])
        let wrong: [[UInt8]] = [
            [], [0, 2, 0], [1, 2] + fill + [0], [0, 1] + fill + [0], [0, 2] + fill,
            [0, 2] + fill.prefix(7) + [0] + fill,
        ]
        for block in wrong {
            #expect(throws: CryptoFault.wrongPadding) { _ = try RSAUnpadding.pkcs1(block) }
            #expect(throws: CryptoFault.wrongPadding) { _ = try RSAUnpadding.oaep(block, .sha1) }
        }
    }

    @Test func refusesKeysThatAreNone() throws {
        #expect(throws: CryptoFault.self) { try PrivateKey(der: Secret([0x30, 0x00])) }
        #expect(throws: CryptoFault.self) { try PublicKey(subjectPublicKeyInfo: [0x30, 0x00]) }
        #expect(throws: CryptoFault.self) { try PrivateKey(.p256, scalar: Secret([UInt8](repeating: 0, count: 32))) }
        #expect(throws: CryptoFault.self) { try PrivateKey(.p256, scalar: Secret([UInt8](repeating: 255, count: 32))) }
        #expect(throws: CryptoFault.self) { try PrivateKey(.p256, scalar: Secret([UInt8](repeating: 1, count: 33))) }
        #expect(throws: CryptoFault.self) { try PrivateKey(ed25519: Secret([1])) }
        #expect(throws: CryptoFault.self) { try PrivateKey(newRSA: 512) }
        #expect(throws: CryptoFault.self) { try PrivateKey(remainders: [[1], [2]]) }
        let twos = [[UInt8]](repeating: [UInt8](repeating: 0xFF, count: 64), count: 5)
        #expect(throws: CryptoFault.self) { try PrivateKey(remainders: twos) }
        let p256 = try PrivateKey(.p256, scalar: Secret([UInt8](repeating: 1, count: 32)))
        #expect(throws: CryptoFault.self) { try p256.remainders() }
        #expect(throws: CryptoFault.self) { try p256.rsaPrivate([1, 2]) }
        let ed25519 = try PrivateKey(ed25519: Secret([UInt8](repeating: 1, count: 32)))
        #expect(throws: CryptoFault.self) { try ed25519.sign(digest: [1]) }
        #expect(throws: CryptoFault.self) { try ed25519.shared(with: p256.publicKey) }
        #expect(p256 != ed25519 && p256 == p256)
    }
}
