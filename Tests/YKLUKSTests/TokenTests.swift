// SPDX-License-Identifier: Apache-2.0

import Testing
import YKCrypto
import YKFIDO
import YKKeys
import YKPIV
import YKTestSupport
import YKTransport
import YKVirtualKey
import YKWire

@testable import YKLUKS

/// Tokens of keys: what they say, and which key they are for.
struct TokenTests {
    private func key(_ serial: UInt32 = 1) throws -> VirtualKey {
        try VirtualKey.new(FirmwareVersion(5, 7, 1), serial: serial, inputs: VirtualInputs(touch: { _ in .touched }))
    }

    private func opened(_ key: VirtualKey) async throws -> Key {
        let keys = KeyRing(source: .virtual(key), environment: .instant)
        return try #require(try await keys.all().first)
    }

    /// The metadata with these tokens, of the slots 1, 2, ….
    private func metadata(_ kinds: [LUKSToken.Kind], serial: String? = nil) throws -> LUKS2Metadata {
        var tokens = JSONValue.Object()
        for (index, kind) in kinds.enumerated() {
            tokens["\(index)"] = LUKSToken.json(kind, keyslot: index + 1, name: "key", serial: serial)
        }
        return try LUKS2Metadata(["keyslots": [:], "tokens": .object(tokens)])
    }

    @Test("a key finds its credential without a touch") func ownCredential() async throws {
        let (first, second) = (try key(), try key(2))
        var tokens: [SystemdToken] = []
        for key in [first, second] {
            let service = try await opened(key).open(FIDOService.self)
            let wanted = SystemdToken(
                rpID: SystemdToken.defaultRPID, credential: [], salt: [UInt8](repeating: 1, count: 32),
                isVerified: false, needsTouch: true)
            let user = FIDOUser(id: [1], name: "volume", displayName: "/dev/sda2")
            tokens.append(try await service.createCredential(for: wanted, of: user, random: SystemRandom()))
            await service.close()
        }
        let all = try metadata(tokens.map { .fido2($0) }).tokens
        try await expect(opened(first).ownTokens(all).map(\.number), is: [0])
        try await expect(opened(second).ownTokens(all).map(\.number), is: [1])
        #expect(try await opened(try key(3)).ownTokens(all).isEmpty)
        let service = try await opened(first).open(FIDOService.self)
        let secret = try await service.secret(of: tokens[0])
        let enrollment = LUKSEnrollment(.fido2(tokens[0]), secret: secret, name: "key", serial: "1")
        expect(enrollment.passphrase.value.copyBytes(), is: Array(Base64.encode(secret.value.copyBytes()).utf8))
    }

    @Test("a key in a slot derives what was enrolled", arguments: [PIVAlgorithm.rsa2048, .p256, .p384])
    func slot(_ algorithm: PIVAlgorithm) async throws {
        let key = try key(77)
        let service = try await opened(key).open(PIVService.self)
        try await service.authenticate(with: .defaultKey())
        let publicKey = try await service.generateKey(.keyManagement, algorithm)
        let uri = SystemdPKCS11Token.uri(of: .keyManagement, serial: "77")
        expect(uri, is: "pkcs11:token=YubiKey%20PIV%20%2377;id=%03;type=private")
        let (token, secret) = try SystemdPKCS11Token.enrolling(publicKey, uri: uri, random: SystemRandom())
        #expect(
            token.fits(algorithm) && !token.fits(algorithm == .p384 ? .p256 : .p384) && !token.fits(.x25519)
                && token.serial == "77")
        try await service.verify(.defaultPIN())
        let derived: SharedSecret
        if let curve = algorithm.curve {
            derived = try await service.derive(with: .ec(curve, point: token.key), .keyManagement)
            #expect(token.key.count == 1 + 2 * curve.fieldSize && secret.value.count == curve.fieldSize)
        } else {
            derived = try await service.decrypt(token.key, .keyManagement, padding: .pkcs1)
            expect(secret.value.count, is: 128)
        }
        expect(derived.value.copyBytes(), is: secret.value.copyBytes())
        await service.close()
        let all = try metadata([.pkcs11(token)]).tokens
        try await expect(opened(key).ownTokens(all).count, is: 1)
        #expect(try await opened(try self.key(78)).ownTokens(all).isEmpty)
    }

    @Test func unfitKeys() {
        #expect(throws: LUKSError.unfitKey) {
            try SystemdPKCS11Token.enrolling(
                .ed25519([UInt8](repeating: 1, count: 32)), uri: "", random: SystemRandom())
        }
        #expect(throws: LUKSError.unfitKey) {
            try SystemdPKCS11Token.enrolling(
                .rsa(modulus: [1, 2, 3, 4], exponent: [3]), uri: "", random: SystemRandom())
        }
    }

    @Test(
        "serial numbers and slots in URIs",
        arguments: [
            ("pkcs11:token=YubiKey%20PIV%20%2312345678;id=%03;type=private", "12345678", "9d"),
            ("pkcs11:serial=7;id=%18", "7", "95"), ("pkcs11:serial=abc;token=x%231;id=%00", "1", nil),
            ("pkcs11:token=YubiKey%20%23", nil, nil), ("pkcs11:token=%2312345678901", nil, nil),
            ("pkcs11:id=%0", nil, nil), ("pkcs11:id=%0102", nil, nil), ("pkcs11:id=%zz", nil, nil),
            ("pkcs11:manufacturer=Yubico%20%28www.yubico.com%29;serial=7", "7", nil),
            ("pkcs11:model=PKCS%2315%20emulated;manufacturer=piv_II;serial=00000000;token=disk", nil, nil),
            ("pkcs11:?id=%01", nil, nil), ("pkcs11:token=%", nil, nil), ("pkcs11:", nil, nil),
        ]) func uris(_ uri: String, _ serial: String?, _ slot: String?)
    {
        let token = SystemdPKCS11Token(uri: uri, key: [1])
        #expect(token.serial == serial && token.slot?.description == slot)
    }

    @Test func sameKeys() throws {
        func fido(_ id: UInt8) -> LUKSToken.Kind {
            .fido2(
                SystemdToken(
                    rpID: "x", credential: [id], salt: [UInt8](repeating: 0, count: 32), isVerified: true,
                    needsTouch: true))
        }
        let card = LUKSToken.Kind.pkcs11(SystemdPKCS11Token(uri: "pkcs11:serial=1;id=%01", key: [1]))
        let other = LUKSToken.Kind.pkcs11(SystemdPKCS11Token(uri: "pkcs11:serial=1;id=%03", key: [1]))
        let unnamed = try metadata([fido(1), fido(1), fido(2), card, card, other]).tokens
        #expect(unnamed[0].isOfSameKey(as: unnamed[1]) && !unnamed[0].isOfSameKey(as: unnamed[2]))
        #expect(unnamed[3].isOfSameKey(as: unnamed[4]) && !unnamed[3].isOfSameKey(as: unnamed[5]))
        #expect(!unnamed[0].isOfSameKey(as: unnamed[3]))
        let named = try metadata([fido(1), fido(2)], serial: "1").tokens
        #expect(named[0].isOfSameKey(as: named[1]) && named[0].serial == "1" && named[0].name == "key")
        expect(LUKSToken.json(.recovery, keyslot: 1, name: nil, serial: nil), is: nil)
    }

    @Test("a key without FIDO has no credential there") func withoutFIDO() async throws {
        let device = try VirtualKey.new(.neo, inputs: VirtualInputs(touch: { _ in .touched }))
        let token = SystemdToken(
            rpID: "x", credential: [1], salt: [UInt8](repeating: 0, count: 32), isVerified: true, needsTouch: true)
        #expect(try await opened(device).ownTokens(try metadata([.fido2(token)]).tokens).isEmpty)
    }
}
