// SPDX-License-Identifier: Apache-2.0

import Testing
import YKCrypto
import YKTestSupport
import YKTransport
import YKWire

@testable import YKOpenPGP

/// What cards refuse, what broken ones answer, and what is refused before it is sent: keys and what is done with them.
struct KeyFailureTests {
    private static let p384: [UInt8] = [0x13, 0x2B, 0x81, 0x04, 0x00, 0x22]
    private static let ed25519: [UInt8] = [0x16, 0x2B, 0x06, 0x01, 0x04, 0x01, 0xDA, 0x47, 0x0F, 0x01]
    private static let x25519: [UInt8] = [0x12, 0x2B, 0x06, 0x01, 0x04, 0x01, 0x97, 0x55, 0x01, 0x05, 0x01]

    /// A public key as the card returns it.
    private static func reply(_ tag: TLV.Tag, _ value: [UInt8]) -> [UInt8] {
        TLV(0x7F49, TLV(tag, value).encoded).encoded
    }

    private static func modulus(_ count: Int) -> [UInt8] {
        TLV(0x7F49, [TLV(0x81, [UInt8](repeating: 0xC1, count: count)), TLV(0x82, [1, 0, 1])].encoded).encoded
    }

    private static func failure(
        _ card: ScriptedCard, verified: [OpenPGPAccess] = [], _ operation: (OpenPGPService) async throws -> Void
    ) async throws -> OpenPGPError? {
        let service = try await card.open()
        for access in verified { try await service.verify(Secret(utf8: "12345678"), for: access) }
        return await #expect(throws: OpenPGPError.self) { try await operation(service) }
    }

    private static func isMalformed(_ error: OpenPGPError?, _ command: String) -> Bool {
        guard case .card(.malformed(_, command)) = error else { return false }
        return true
    }

    // MARK: Reading

    @Test("a public key that is missing, unreadable, or in a slot that does not exist")
    func publicKeys() async throws {
        for status: UInt16 in [0x6A88, 0x6581, 0x6985, 0x6A80] {
            let card = ScriptedCard().answering("00478100", status)
            try await expect(Self.failure(card) { _ = try await $0.publicKey(.signature) }, is: .noKey(.signature))
        }
        let failing = ScriptedCard().answering("00478100", 0x6F00)
        #expect(
            try await Self.failure(failing) { _ = try await $0.publicKey(.signature) }
                == .card(.status(.aborted, during: "GENERATE ASYMMETRIC KEY PAIR")))
        let other = ScriptedCard().with(0xC1, [0x13, 0x01])
        #expect(
            try await Self.failure(other) { _ = try await $0.publicKey(.signature) }
                == .unfit(.signature, "a key of an unknown type"))
        let three = ScriptedCard().with(0xDA, nil)
        #expect(
            try await Self.failure(three) { _ = try await $0.publicKey(.attestation) }
                == .unsupported("the attestation slot"))
        let replies: [(TLV.Tag, [UInt8], [UInt8])] = [
            (0xC1, [1, 8, 0, 0, 0x11, 0], Self.modulus(128)), (0xC1, [1, 8, 0, 0, 0x11, 0], Self.modulus(0)),
            (0xC1, [1, 8, 0, 0, 0x11, 0], Self.reply(0x86, [1])), (0xC1, Self.p384, Self.reply(0x86, [0x04, 1, 2])),
            (0xC1, Self.p384, Self.reply(0x86, [0x02] + [UInt8](repeating: 1, count: 96))),
            (0xC1, Self.ed25519, Self.reply(0x86, [UInt8](repeating: 1, count: 31))),
            (0xC1, Self.ed25519, Self.reply(0x86, [0x41] + [UInt8](repeating: 1, count: 32))),
            (0xC1, Self.ed25519, [0x7F, 0x49, 0x05]), (0xC1, Self.ed25519, []),
        ]
        for (tag, attributes, data) in replies {
            let card = ScriptedCard().with(tag, attributes).answering("00478100", 0x9000, data)
            let error = try await Self.failure(card) { _ = try await $0.publicKey(.signature) }
            #expect(Self.isMalformed(error, "GENERATE ASYMMETRIC KEY PAIR"), "\(Hex.encode(data.prefix(8)))")
        }
        let prefixed = ScriptedCard().with(0xC1, Self.ed25519)
            .answering("00478100", 0x9000, Self.reply(0x86, [0x40] + [UInt8](repeating: 1, count: 32)))
        try await expect(
            prefixed.open().publicKey(.signature), is: .ed25519([UInt8](repeating: 1, count: 32)))
    }

    @Test("algorithm information that is missing or wrong")
    func algorithmInformation() async throws {
        #expect(try await ScriptedCard().open().keyTypes(for: .signature).isEmpty)
        let list = TLV(0xFA, [TLV(0xC1, Self.ed25519), TLV(0xC1, Self.ed25519), TLV(0xC1, [0x99])].encoded).encoded
        let whole = ScriptedCard().answering("00ca00fa", 0x9000, list)
        try await expect(whole.open().keyTypes(for: .signature), is: [.ed25519])
        let generous = ScriptedCard().answering("00ca00fa", 0x9000, [0xFA, list[1] + 2] + list.dropFirst(2))
        try await expect(generous.open().keyTypes(for: .signature), is: [.ed25519])
        for bytes: [UInt8] in [[0xFA, 0x09, 0xC1], [0xC1, 0x05, 0x01], [0xFB, 0x02]] {
            let card = ScriptedCard().answering("00ca00fa", 0x9000, bytes)
            #expect(try await card.open().keyTypes(for: .signature).isEmpty)
        }
        let locked = ScriptedCard().answering("00ca00fa", 0x6982)
        #expect(try await locked.open().keyTypes(for: .signature).isEmpty)
    }

    // MARK: Writing

    @Test("keys that the card does not make")
    func generating() async throws {
        func failure(_ card: ScriptedCard, _ type: OpenPGPKeyType = .rsa(bits: 2048)) async throws -> OpenPGPError? {
            try await Self.failure(card) { _ = try await $0.generateKey(.signature, type) }
        }
        var weak = ScriptedCard()
        weak.firmware = [0x04, 0x02, 0x07]
        guard case .unsupported(let reason) = try await failure(weak) else {
            Issue.record("a key that can be broken was generated")
            return
        }
        #expect(reason.contains("ROCA"))
        let fresh = ScriptedCard().answering("00478000", 0x6985)
        try await expect(failure(fresh), is: .defaultPINs)
        let locked = ScriptedCard().answering("00478000", 0x6982)
        try await expect(failure(locked), is: .pinRequired(.admin))
        let broken = ScriptedCard().answering("00478000", 0x9000, Self.modulus(100))
        #expect(Self.isMalformed(try await failure(broken), "GENERATE ASYMMETRIC KEY PAIR"))
        let fixed = ScriptedCard().with(0xC0, [0x79])
        try await expect(failure(fixed, .ed25519), is: .unsupportedKey(.ed25519, .signature))
        for status: UInt16 in [0x6A80, 0x6700, 0x6A81] {
            let refusing = ScriptedCard().answering("00da00c1", status)
            try await expect(failure(refusing, .ed25519), is: .unsupportedKey(.ed25519, .signature))
        }
        // Its algorithm information has other types.
        let listing = ScriptedCard().answering("00ca00fa", 0x9000, try Hex.decode("c106010800001101"))
        let other = listing.answering("00da00c1", 0x6985)
        try await expect(failure(other, .ed25519), is: .unsupportedKey(.ed25519, .signature))
        let closed = ScriptedCard().answering("00da00c1", 0x6982)
        try await expect(failure(closed, .ed25519), is: .pinRequired(.admin))
        let unnamed = ScriptedCard().answering("00478000", 0x9000, Self.modulus(256)).answering("00da00c7", 0x6F00)
        let cause = CardError.status(.aborted, during: "PUT DATA")
        try await expect(failure(unnamed), is: .keyUnfinished(.signature, isDeleted: false, cause))
        #expect(
            try await failure(ScriptedCard().with(0xC1, nil), .ed25519).map { Self.isMalformed($0, "GET DATA") }
                ?? false)
    }

    /// RSA with 1024 bits and the public exponent 3.
    private static let exponent3 =
        "30820275020100300d06092a864886f70d01010105000482025f3082025b02010002818100b2350320e2a9415a07e0f267a2"
        + "7455d42c327d907f3063ce07acde6988612bfc29c1d529542aa84abf9b353cc500d05f25248a2001384ad2ce5b91ec33106b"
        + "930f3a0f6471d026907fdd7569533682dbaf11c5ee45007befeff73d82828586aed13c843038401fe5a8b576feb4aae02c61"
        + "10a3783cbc46df024b200d3a7bb7d302010302818076ce0215ec70d63c0540a19a6c4d8e8d72cc53b5aa2042895a733ef105"
        + "961d52c68138c6381c7031d512237dd8ab3594c36db16aab7adc8c89926148220af260ed4d2a52f1fb1fe85026808dc44a3a"
        + "4f775cadcccfca95cea826a01519a2cff1fa80f9a708380fd78b76211a5f30cb07427ec41ade59014048a11aee8de0c2ab02"
        + "4100da1909cf138e37ecd119764eed5f378c0cd1c7f62f56528d855cb3d86fbb619c89d9e0307781212463824e014325ad72"
        + "bfa39439e2f9ca3c4aaa3e15b9a8c201024100d12d4618f3493ec7368a3e45bf67f3d86f34f944ddfa48ac6e60998a6c55ed"
        + "274fa12d85346ae6fdf401f755e2bc022ebdaee9160c3cfac24aaf3991ac01d1d30241009166068a0d097a9de0bba4349e3f"
        + "7a5d5de12ff974e43709039322904a7cebbdb13beacafa5616184256deab82191e4c7fc262d141fbdc2831c6d40e7bc5d6ab"
        + "0241008b738410a230d484cf06d42e7f9aa2904a2350d893fc3072f440665c483948c4dfc0c903784744a94d56a4e3ec7d56"
        + "c9d3c9f0b95d7dfc81871f7bb672abe13702406969a675d0e2ab342c3f7a82e460cd4279efe63a5de9d518cc1c9f50696a43"
        + "4e7612103c55b173de2b2780de2c2187fa0a237c9fed6bf2364d5e2ba5abbea4cc"

    @Test("keys that the card does not take")
    func importing() async throws {
        let key = try PrivateKey(.p384, scalar: Secret([UInt8](repeating: 1, count: 48)))
        func failure(_ card: ScriptedCard, _ key: PrivateKey) async throws -> OpenPGPError? {
            try await Self.failure(card) { _ = try await $0.importKey(key, .signature) }
        }
        try await expect(failure(ScriptedCard().with(0xC0, [0x59]), key), is: .unsupported("importing keys"))
        let three = try PrivateKey(der: Secret(Hex.decode(Self.exponent3)))
        #expect(
            try await failure(ScriptedCard(), three)
                == .badInput("cards accept only RSA keys with the public exponent 65537"))
        let card = ScriptedCard().with(0xC1, Self.p384)
        try await expect(failure(card.answering("00db3fff", 0x6985), key), is: .defaultPINs)
        #expect(
            try await failure(card.answering("00db3fff", 0x6A80), key)
                == .card(.status(.incorrectParameters, during: "PUT DATA (key import)")))
        let other = try PrivateKey(.p384, scalar: Secret([UInt8](repeating: 2, count: 48)))
        guard case .ec(_, let point) = other.publicKey else { return }
        let forgetful = card.answering("00478100", 0x9000, Self.reply(0x86, point))
        try await expect(failure(forgetful, key), is: .keyLost(.signature, .notStored("the key")))
        #expect(
            try await Self.failure(ScriptedCard().with(0xC0, [0x79])) { try await $0.deleteKey(.signature) }
                == .unsupported("deleting keys"))
    }

    @Test("touch policies that the card does not have or does not store")
    func touch() async throws {
        let none = ScriptedCard().with(0xD6, nil)
        #expect(
            try await Self.failure(none) { try await $0.setTouch(.on, .signature) }
                == .unsupported("a touch policy for the signature key"))
        #expect(
            try await Self.failure(ScriptedCard()) { try await $0.setTouch(.on, .signature) }
                == .notStored("the touch policy"))
        let locked = ScriptedCard().answering("00da00d6", 0x6982)
        try await expect(Self.failure(locked) { try await $0.setTouch(.on, .signature) }, is: .pinRequired(.admin))
    }

    // MARK: Using

    private static func curveCard(_ attributes: [UInt8] = p384) throws -> (ScriptedCard, PrivateKey) {
        let key = try PrivateKey(.p384, scalar: Secret([UInt8](repeating: 1, count: 48)))
        guard case .ec(_, let point) = key.publicKey else { throw CryptoFault("not a curve") }
        return (ScriptedCard().with(0xC1, attributes).answering("0047", 0x9000, reply(0x86, point)), key)
    }

    @Test("signatures that are none are not returned")
    func signatures() async throws {
        let (curve, _) = try Self.curveCard()
        for (data, isWrong) in [
            ([], false), ([1], false), ([UInt8](repeating: 1, count: 95), false),
            ([UInt8](repeating: 1, count: 98), false), ([UInt8](repeating: 1, count: 96), true),
            ([UInt8](repeating: 0, count: 96), false),
            ([0] + [UInt8](repeating: 1, count: 48) + [0] + [UInt8](repeating: 1, count: 48), true),
        ] as [([UInt8], Bool)] {
            let error = try await Self.failure(curve.answering("002a9e9a", 0x9000, data)) {
                _ = try await $0.sign(.message([1, 2, 3]))
            }
            #expect(
                isWrong
                    ? error == .wrongSignature(.signature)
                    : Self.isMalformed(error, "PSO: COMPUTE DIGITAL SIGNATURE"), "\(data.count)")
        }
        let rsa = ScriptedCard().answering("0047", 0x9000, Self.modulus(256))
        for (count, isWrong) in [(0, false), (257, false), (256, true), (1, true)] {
            let error = try await Self.failure(
                rsa.answering("002a9e9a", 0x9000, [UInt8](repeating: 1, count: count))
            ) { _ = try await $0.sign(.message([1])) }
            #expect(
                isWrong
                    ? error == .wrongSignature(.signature)
                    : Self.isMalformed(error, "PSO: COMPUTE DIGITAL SIGNATURE"), "\(count)")
        }
        let edwards = ScriptedCard().with(0xC1, Self.ed25519)
            .answering("0047", 0x9000, Self.reply(0x86, [UInt8](repeating: 1, count: 32)))
        for count in [63, 65] {
            let error = try await Self.failure(
                edwards.answering("002a9e9a", 0x9000, [UInt8](repeating: 1, count: count))
            ) { _ = try await $0.sign(.message([1])) }
            #expect(Self.isMalformed(error, "PSO: COMPUTE DIGITAL SIGNATURE"))
        }
        #expect(
            try await Self.failure(edwards) { _ = try await $0.sign(.message([])) }
                == .badInput("there is nothing to sign"))
        #expect(
            try await Self.failure(curve) { _ = try await $0.sign(.digest([1, 2, 3])) }
                == .badInput("a digest of \(HashAlgorithm.sha256) has 32 bytes, not 3"))
        let agreeing = ScriptedCard().with(0xC1, Self.x25519)
            .answering("0047", 0x9000, Self.reply(0x86, [UInt8](repeating: 1, count: 32)))
        #expect(
            try await Self.failure(agreeing) { _ = try await $0.sign(.message([1])) }
                == .unfit(.signature, "signatures"))
    }

    @Test("what a status word means where a key is used")
    func uses() async throws {
        let (card, _) = try Self.curveCard()
        func failure(_ status: UInt16, verified: [OpenPGPAccess] = [], touch: UInt8 = 0) async throws -> OpenPGPError? {
            try await Self.failure(
                card.answering("002a9e9a", status).with(0xD6, [touch, 0x20]), verified: verified
            ) { _ = try await $0.sign(.message([1])) }
        }
        try await expect(failure(0x6982), is: .pinRequired(.user))
        try await expect(failure(0x6982, verified: [.signing]), is: .pinRequired(.user))
        try await expect(failure(0x6982, verified: [.signing], touch: 1), is: .touchTimeout(.signature))
        try await expect(failure(0x6982, verified: [.using], touch: 1), is: .pinRequired(.user))
        try await expect(failure(0x6A88), is: .noKey(.signature))
        try await expect(failure(0x6985), is: .noKey(.signature))
        try await expect(failure(0x6600), is: .touchTimeout(.signature))
        try await expect(failure(0x640A), is: .touchTimeout(.signature))
        try await expect(
            failure(0x6F00), is: .card(.status(.aborted, during: "PSO: COMPUTE DIGITAL SIGNATURE")))
    }

    @Test("ciphertexts and agreements that do not fit the key")
    func decryption() async throws {
        let rsa = ScriptedCard()
        for count in [0, 257] {
            #expect(
                try await Self.failure(rsa) { _ = try await $0.decrypt([UInt8](repeating: 1, count: count)) }
                    == .badInput("the key decrypts 256 bytes, not \(count)"))
        }
        let key = try PrivateKey(.p384, scalar: Secret([UInt8](repeating: 1, count: 48)))
        #expect(
            try await Self.failure(rsa) { _ = try await $0.derive(with: key.publicKey) }
                == .unfit(.decryption, "a key of type ecc-p384"))
        let same = PublicKey.rsa(modulus: [UInt8](repeating: 0xC1, count: 256), exponent: [1, 0, 1])
        #expect(
            try await Self.failure(rsa) { _ = try await $0.derive(with: same) }
                == .unfit(.decryption, "a key of type rsa2048"))
        let curve = ScriptedCard().with(0xC2, [0x12] + Self.p384.dropFirst())
        #expect(
            try await Self.failure(curve) { _ = try await $0.decrypt([1]) }
                == .unfit(.decryption, "messages; it agrees on secrets"))
        for count in [0, 47, 49, 96] {
            let card = curve.answering("002a8086", 0x9000, [UInt8](repeating: 4, count: count))
            let error = try await Self.failure(card) { _ = try await $0.derive(with: key.publicKey) }
            #expect(Self.isMalformed(error, "PSO: DECIPHER"), "\(count)")
        }
        let whole = curve.answering("002a8086", 0x9000, [0x04] + (1...96).map { UInt8($0) })
        try await expect(whole.open().derive(with: key.publicKey).value.copyBytes(), is: (1...48).map { UInt8($0) })
        let refusing = curve.answering("002a8086", 0x6A80)
        try await expect(Self.failure(refusing) { _ = try await $0.derive(with: key.publicKey) }, is: .notDecrypted)
    }

    @Test("random bytes that the card does not have or cuts short")
    func random() async throws {
        let without = ScriptedCard().with(0xC0, [0x3D, 0, 0, 0])
        try await expect(Self.failure(without) { _ = try await $0.random(8) }, is: .unsupported("random bytes"))
        let card = ScriptedCard().answering("0084", 0x9000, [1, 2, 3])
        try await expect(card.open().random(3), is: [1, 2, 3])
        for count in [2, 4] {
            #expect(Self.isMalformed(try await Self.failure(card) { _ = try await $0.random(count) }, "GET CHALLENGE"))
        }
        let failing = ScriptedCard().answering("0084", 0x6F00)
        #expect(
            try await Self.failure(failing) { _ = try await $0.random(8) }
                == .card(.status(.aborted, during: "GET CHALLENGE")))
    }
}
