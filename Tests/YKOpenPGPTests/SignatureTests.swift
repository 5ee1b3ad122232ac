// SPDX-License-Identifier: Apache-2.0

import Testing
import YKCrypto
import YKOpenPGP
import YKTestSupport
import YKTransport
import YKVirtualKey
import YKWire

/// Signatures of OpenPGP; what GnuPG accepts is in openpgp-gpg.py.
@Suite struct SignatureTests {
    private static let message = Array("a message".utf8)

    private static func open(_ type: OpenPGPKeyType) async throws -> (OpenPGPService, OpenPGPPublicKey) {
        let service = try await Bench.open()
        try await service.verifyUsual(.administration)
        let key = try await service.generateKey(.signature, type)
        try await service.verifyUsual(.signing)
        return (service, key)
    }

    /// Reads the packet as RFC 9580 §5.2.3 has it, and verifies what it signs.
    @Test(
        "a packet names its key, its time and its hash, and its integers are the signature",
        arguments: [
            (OpenPGPKeyType.rsa(bits: 2048), UInt8(1), HashAlgorithm.sha256), (.curve(.p256), 19, .sha256),
            (.curve(.p384), 19, .sha384), (.curve(.p521), 19, .sha512), (.ed25519, 22, .sha256),
        ])
    func packet(_ type: OpenPGPKeyType, _ algorithm: UInt8, _ hash: HashAlgorithm) async throws {
        let (service, key) = try await Self.open(type)
        let signature = try await service.detachedSignature(of: Self.message)
        #expect(
            signature.hash == hash && signature.created == 1_577_836_800 && signature.fingerprint == key.fingerprint)
        var reader = ByteReader(signature.packet)
        try expect(reader.byte(), is: 0x89)
        try expect(Int(reader.uint16()), is: signature.packet.count - 3)
        let number: UInt8 = hash == .sha256 ? 8 : hash == .sha384 ? 9 : 10
        let head = try reader.bytes(35)
        expect(
            head, is: [4, 0, algorithm, number, 0, 29, 22, 33, 4] + key.fingerprint + [5, 2, 0x5E, 0x0B, 0xE1, 0x00])
        try expect(reader.bytes(12), is: [0, 10, 9, 16] + key.fingerprint.suffix(8))
        let signed = Self.message + head + [4, 0xFF, 0, 0, 0, 35]
        let digest = hash.hash(signed)
        try expect(reader.bytes(2), is: Array(digest.prefix(2)))
        var numbers: [[UInt8]] = []
        while !reader.isAtEnd { numbers.append(try Self.integer(&reader)) }
        switch key.key {
        case .rsa(let modulus, _):
            #expect(key.key.isValid(numbers[0].padded(to: modulus.count), for: signed, hash) && numbers.count == 1)
        case .ed25519:
            #expect(key.key.isValid(numbers.flatMap { $0.padded(to: 32) }, for: digest, hash) && numbers.count == 2)
        default:
            let der = numbers.map { TLV(0x02, $0[0] < 0x80 ? $0 : [0] + $0) }
            #expect(key.key.isValid(TLV(0x30, der.encoded).encoded, for: signed, hash) && numbers.count == 2)
        }
        let lines = signature.armored.split(separator: "\n", omittingEmptySubsequences: false)
        #expect(lines.first == "-----BEGIN PGP SIGNATURE-----" && lines[1].isEmpty && lines.last?.isEmpty == true)
        #expect(lines.dropLast().last == "-----END PGP SIGNATURE-----" && lines[lines.count - 3].count == 5)
        try expect(Base64.decode(lines[2..<(lines.count - 3)].joined()), is: signature.packet)
    }

    /// A multiprecision integer without leading zeros.
    private static func integer(_ reader: inout ByteReader) throws -> [UInt8] {
        let bits = Int(try reader.uint16())
        let bytes = try reader.bytes((bits + 7) / 8)
        expect(bits, is: bytes.count * 8 - bytes[0].leadingZeroBitCount)
        return bytes
    }

    @Test("hashes that OpenPGP does not have with a key are refused before anything is signed")
    func hashes() async throws {
        let (service, _) = try await Self.open(.curve(.p384))
        for hash in [HashAlgorithm.sha1, .sha256] {
            let error = await #expect(throws: OpenPGPError.self) {
                try await service.detachedSignature(of: Self.message, hash: hash)
            }
            guard case .badInput = error else {
                Issue.record("\(String(describing: error))")
                continue
            }
        }
        try await expect(service.signatureCount(), is: 0)
        try await expect(service.detachedSignature(of: Self.message, hash: .sha512).hash, is: .sha512)
    }

    @Test("a key whose fingerprint the card does not have signs nothing that could be verified")
    func fingerprint() async throws {
        let (service, key) = try await Self.open(.ed25519)
        let card = try await Bench.open()
        await #expect(throws: OpenPGPError.noKey(.signature)) {
            try await card.detachedSignature(of: Self.message)
        }
        // Another program generated a key and stored no fingerprint.
        let channel = ScriptedCard().answering(
            "00478100", 0x9000, TLV(0x7F49, TLV(0x86, Self.point(key)).encoded).encoded)
        let scripted = try await channel.with(0xC1, [0x16, 0x2B, 0x06, 0x01, 0x04, 0x01, 0xDA, 0x47, 0x0F, 0x01]).open()
        await #expect(throws: OpenPGPError.wrongFingerprint(.signature)) {
            try await scripted.detachedSignature(of: Self.message)
        }
        try await expect(service.detachedSignature(of: Self.message).fingerprint, is: key.fingerprint)
    }

    private static func point(_ key: OpenPGPPublicKey) -> [UInt8] {
        if case .ed25519(let point) = key.key { point } else { [] }
    }
}
