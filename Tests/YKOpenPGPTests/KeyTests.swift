// SPDX-License-Identifier: Apache-2.0

import Testing
import YKCrypto
import YKTestSupport
import YKTransport
import YKVirtualKey
import YKWire

@testable import YKOpenPGP

/// Keys: types, fingerprints, the form in which they are imported, and what they do on virtual cards.
struct KeyTests {
    /// The numbers of a public key as OpenPGP writes them (RFC 4880 §5.5.2).
    private func key(_ algorithm: Int, _ material: [UInt8]) throws -> PublicKey {
        var reader = ByteReader(material)
        func integer() throws -> [UInt8] { try reader.bytes((Int(try reader.uint16()) + 7) / 8) }
        if algorithm == 1 { return .rsa(modulus: try integer(), exponent: try integer()) }
        let identifier = try reader.bytes(Int(try reader.byte()))
        let type = try #require(OpenPGPKeyType.known.first { $0.identifier == identifier })
        let point = try integer()
        switch type {
        case .ed25519: return .ed25519(Array(point.dropFirst()))
        case .x25519: return .x25519(Array(point.dropFirst()))
        case .curve(let curve): return .ec(curve, point: point)
        case .rsa: return .rsa(modulus: [], exponent: [])
        }
    }

    @Test("fingerprints are those that GnuPG calculates")
    func fingerprints() throws {
        var count = 0
        for vector in try Bench.cases("fingerprint-v4") where !"\(vector["name"] ?? "")".contains("AES-192") {
            let algorithm = try #require(vector["algorithm_id"] as? Int)
            let material = try Hex.decode(try #require(vector["public_material"] as? String))
            let named = OpenPGPPublicKey(
                try key(algorithm, material), in: algorithm == 18 ? .decryption : .signature,
                created: try #require(vector["created"] as? Int64))
            expect(Hex.encode(named.fingerprint), is: vector["fingerprint"] as? String, "\(vector["name"] ?? "")")
            count += 1
        }
        expect(count, is: 8)
    }

    @Test("attributes are written as the vectors have them, and read back")
    func attributes() throws {
        for vector in try Bench.cases("algorithm-attributes") {
            let bytes = try Hex.decode(try #require(vector["attributes"] as? String))
            let name = try #require(vector["name"] as? String)
            let slot: OpenPGPSlot =
                name.contains("DEC") ? .decryption : name.contains("AUT") ? .authentication : .signature
            let type = try #require(OpenPGPKeyType(OpenPGPAlgorithm(attributes: bytes)))
            expect(type.attributes(for: slot, among: [bytes]), is: bytes, "\(name)")
            #expect(OpenPGPKeyType(type.description) == type && OpenPGPKeyType("nonsense") == nil)
        }
    }

    @Test("private keys are laid out as the vectors have them")
    func templates() throws {
        let attributes: [String: [UInt8]] = [
            "RSA-2048 standard, SIG": [1, 8, 0, 0, 0x11, 0],
            "RSA-2048 CRT with modulus, AUT (old firmware)": [1, 8, 0, 0, 0x11, 3],
            "P-256 with public key, SIG (when the attribute ends in ff)": [0x13, 0xFF],
        ]
        for vector in try Bench.cases("import-template") {
            let name = try #require(vector["name"] as? String)
            let data = try Hex.decode(try #require(vector["data"] as? String))
            let slot: OpenPGPSlot =
                name.contains("DEC")
                ? .decryption
                : name.contains("AUT") ? .authentication : name.contains("attestation") ? .attestation : .signature
            let content = try #require(try TLV.list(data).value(0x4D))
            let numbers = try #require(try TLV.list(content).value(0x5F48))
            let key: PrivateKey
            if name.hasPrefix("RSA") {
                key = try PrivateKey(primes: Array(numbers[3..<131]), Array(numbers[131..<259]))
            } else if name.hasPrefix("P-256") {
                key = try PrivateKey(.p256, scalar: Secret(numbers.prefix(32)))
            } else if name.hasPrefix("Ed25519") {
                key = try PrivateKey(ed25519: Secret(numbers))
            } else {
                key = try PrivateKey(x25519: Secret(numbers.reversed()))
            }
            let parts = try OpenPGPService.parts(of: key, attributes[name] ?? [0x13])
            expect(ImportPrivateKey(slot, parts).apdu.data, is: data, "\(name)")
        }
    }

    @Test("keys of every type sign, on a YubiKey and on another card", arguments: OpenPGPKeyType.known)
    func signs(_ type: OpenPGPKeyType) async throws {
        guard type.fits(.signature), type != .rsa(bits: 4096), type != .rsa(bits: 3072) else { return }
        for model in [DeviceModel.yubiKey, .openPGP] {
            let service = try await Bench.open(model: model)
            try await service.verifyUsual(.administration)
            let made = try await service.generateKey(.signature, type)
            #expect(made.created == 1_577_836_800 && OpenPGPKeyType(made.key) == type)
            let info = try await service.status().keys[0]
            #expect(info.fingerprint == made.fingerprint && info.created == made.created)
            expect(info.origin?.description, is: "generated")
            try await service.verifyUsual(.signing)
            let message = Array("a message".utf8)
            let signature = try await service.sign(.message(message))
            #expect(made.key.isValid(signature, for: message, .sha256))
            try await expect(service.signatureCount(), is: 1)
        }
    }

    @Test("imported keys agree on secrets and decrypt", arguments: [DeviceModel.yubiKey, .openPGP])
    func decrypts(_ model: DeviceModel) async throws {
        let service = try await Bench.open(model: model)
        try await service.verifyUsual(.administration, .using)
        let number = Secret([UInt8](repeating: 0x17, count: 32))
        let peer = try PrivateKey(x25519: Secret([UInt8](repeating: 0x29, count: 32)))
        let own = try PrivateKey(x25519: number)
        let stored = try await service.importKey(own, .decryption, created: 7)
        #expect(stored.key == own.publicKey && stored.created == 7)
        let shared = try await service.derive(with: peer.publicKey)
        try expect(shared.value.copyBytes(), is: own.shared(with: peer.publicKey).value.copyBytes())
        let curve = try PrivateKey(.brainpoolP384, scalar: Secret([UInt8](repeating: 0x31, count: 48)))
        let other = try PrivateKey(.brainpoolP384, scalar: Secret([UInt8](repeating: 0x32, count: 48)))
        _ = try await service.importKey(curve, .decryption)
        let secret = try await service.derive(with: other.publicKey)
        try expect(secret.value.copyBytes(), is: curve.shared(with: other.publicKey).value.copyBytes())
        await #expect(throws: OpenPGPError.unfit(.decryption, "a key of type x25519")) {
            _ = try await service.derive(with: peer.publicKey)
        }
        let rsa = try PrivateKey(newRSA: 2048)
        _ = try await service.importKey(rsa, .decryption)
        guard case .rsa(let modulus, _) = rsa.publicKey else { return }
        let block = [0, 2] + [UInt8](repeating: 0xAA, count: modulus.count - 9) + [0] + Array("secret".utf8)
        let message = try rsa.publicKey.rsaPublic(block)
        try await expect(service.decrypt(message).value.copyBytes(), is: Array("secret".utf8))
        await #expect(throws: OpenPGPError.notDecrypted) { _ = try await service.decrypt(Array(message.reversed())) }
        try await service.deleteKey(.decryption)
        await #expect(throws: OpenPGPError.noKey(.decryption)) { _ = try await service.publicKey(.decryption) }
        try await expect(service.status().keys[1].fingerprint, is: nil)
    }

    @Test("the authentication key signs with the other latch")
    func authenticates() async throws {
        let service = try await Bench.open()
        try await service.verifyUsual(.administration)
        let made = try await service.generateKey(.authentication, .curve(.p521))
        await #expect(throws: OpenPGPError.pinRequired(.user)) {
            _ = try await service.authenticate(.message([1]))
        }
        try await service.verifyUsual(.using)
        let digest = [UInt8](repeating: 3, count: 64)
        try await expect(service.authenticate(.digest(digest), hash: .sha512).first, is: 0x30)
        await #expect(throws: OpenPGPError.badInput("a digest of sha256 has 32 bytes, not 64")) {
            _ = try await service.authenticate(.digest(digest))
        }
        try await expect(service.publicKey(.authentication), is: made.key)
    }

    @Test("types that do not fit a slot, or the card, are refused")
    func refuses() async throws {
        let service = try await Bench.open()
        try await service.verifyUsual(.administration)
        await #expect(throws: OpenPGPError.unsupportedKey(.x25519, .signature)) {
            _ = try await service.generateKey(.signature, .x25519)
        }
        await #expect(throws: OpenPGPError.unsupportedKey(.rsa(bits: 1024), .signature)) {
            _ = try await service.generateKey(.signature, .rsa(bits: 1024))
        }
        let fresh = try await Bench.open()
        await #expect(throws: OpenPGPError.pinRequired(.admin)) {
            _ = try await fresh.generateKey(.signature, .ed25519)
        }
        #expect(try await service.keyTypes(for: .decryption).contains(.x25519))
        #expect(try await Bench.open(FirmwareVersion(5, 4, 3)).keyTypes(for: .signature).contains(.ed25519))
    }

    @Test("fingerprints of keys that are trusted are stored and removed", arguments: [DeviceModel.yubiKey, .openPGP])
    func authorities(_ model: DeviceModel) async throws {
        let service = try await Bench.open(model: model)
        let fingerprint = (0..<20).map { UInt8($0 + 1) }
        await #expect(throws: OpenPGPError.pinRequired(.admin)) {
            try await service.setCAFingerprint(1, fingerprint)
        }
        try await service.verifyUsual(.administration)
        try await expect(service.status().caFingerprints, is: [nil, nil, nil])
        try await service.setCAFingerprint(1, fingerprint)
        try await service.setCAFingerprint(3, fingerprint.reversed())
        try await expect(service.status().caFingerprints, is: [fingerprint, nil, fingerprint.reversed()])
        try await service.setCAFingerprint(1, nil)
        try await expect(service.status().caFingerprints, is: [nil, nil, fingerprint.reversed()])
        for (number, value) in [(0, fingerprint), (4, fingerprint), (1, [1])] {
            let count = await service.statistics.exchanges
            await #expect(throws: OpenPGPError.self) { try await service.setCAFingerprint(number, value) }
            await expect(service.statistics.exchanges, is: count)
        }
    }

    @Test("touch policies are set, waited for, and stay where they are fixed")
    func touch() async throws {
        let isTouched = Flag()
        let inputs = VirtualInputs(touch: { _ in isTouched.isOn ? .touched : .notTouched })
        let service = try await Bench.open(inputs: inputs)
        try await service.verifyUsual(.administration, .signing)
        _ = try await service.generateKey(.signature, .ed25519)
        try await service.setTouch(.cachedFixed, .signature)
        await #expect(throws: OpenPGPError.touchTimeout(.signature)) { _ = try await service.sign(.message([1])) }
        isTouched.turnOn()
        try await expect(service.sign(.message([1])).count, is: 64)
        await #expect(throws: OpenPGPError.touchIsFixed(.signature)) { try await service.setTouch(.off, .signature) }
        let card = try await Bench.open(model: .openPGP)
        try await card.verifyUsual(.administration)
        await #expect(throws: OpenPGPError.unsupported("a cached touch policy")) {
            try await card.setTouch(.cached, .signature)
        }
    }
}
