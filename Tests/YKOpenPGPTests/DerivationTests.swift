// SPDX-License-Identifier: Apache-2.0

import Testing
import YKCrypto
import YKTestSupport
import YKTransport
import YKWire

@testable import YKOpenPGP

/// Setting up and ending a key derivation on cards of several makers, and what is left where they refuse.
struct DerivationTests {
    private static func pin(_ text: String = "12345678") -> SharedSecret { SharedSecret(Secret(utf8: text)) }

    private static func failure(
        _ card: ScriptedCard, verified: [OpenPGPAccess] = [], log: ScriptedLink.Log = ScriptedLink.Log(),
        _ operation: (OpenPGPService) async throws -> Void
    ) async throws -> OpenPGPError? {
        let service = try await card.open(log)
        for access in verified { try await service.verify(Secret(utf8: "12345678"), for: access) }
        return await #expect(throws: OpenPGPError.self) { try await operation(service) }
    }

    @Test("Gnuk is known by its historical bytes, whatever its maker's number")
    func recognizesGnuk() async throws {
        var card = ScriptedCard().with(0x5F52, [0, 0x31, 0x84, 0x73, 0x80, 0x01, 0x80, 0x05, 0x90, 0])
            .with(0xC5, [UInt8](repeating: 0, count: 60))
        card.manufacturer = 0xFFFE
        let full = card.with(0xC5, [UInt8](repeating: 7, count: 60))
        #expect(
            try await Self.failure(full) { try await Self.setUp($0) }
                == .badInput("this card accepts a key derivation only while it holds no key"))
        let log = ScriptedLink.Log()
        try await Self.setUp(card.open(log))
        #expect(!log.text.contains { $0.hasPrefix("0024") || $0.hasPrefix("002c") })
        // The user PIN may be the admin PIN, and is shorter.
        try await card.open().verify(Self.pin("654321").value, for: .administration)
        // A key before a derivation is set up.
        let plain = card.answering("00478000", 0x6985).with(0xC1, [0x16, 0x2B, 0x06, 1, 4, 1, 0xDA, 0x47, 0x0F, 1])
        try await expect(
            Self.failure(plain) { _ = try await $0.generateKey(.signature, .ed25519) }, is: .derivationRequired)
    }

    @Test("a PIN is sent only in a form that is known", arguments: [0x6F00, 0x6982, 0x6581, 0x6700] as [UInt16])
    func unknownForm(_ word: UInt16) async throws {
        let log = ScriptedLink.Log()
        let silent = ScriptedCard().answering("00ca00f9", word)
        let error = CardError.status(StatusWord(word), during: "GET DATA")
        for operation: (OpenPGPService) async throws -> Void in [
            { try await $0.verify(Self.pin("123456").value, for: .using) },
            { try await $0.changePIN(.user, from: Self.pin("123456").value, to: Self.pin("654321").value) },
        ] {
            try await expect(Self.failure(silent, log: log, operation), is: .card(error))
        }
        #expect(!log.text.contains { $0.hasPrefix("0020") || $0.hasPrefix("0024") })
        for absent: UInt16 in [0x6A88, 0x6D00, 0x6A82] {
            try await ScriptedCard().answering("00ca00f9", absent).open()
                .verify(Self.pin("123456").value, for: .using)
        }
    }

    @Test("a wrong admin PIN that uses up the user PIN's retries was compared with it")
    func countsWhatMoved() async throws {
        func failure(_ word: UInt16, _ user: UInt8, _ admin: UInt8) async throws -> OpenPGPError? {
            var card = ScriptedCard().answering("00200083", word)
                .answering("00ca00c4", 0x9000, [0, 127, 127, 127, user, 0, admin])
            card.manufacturer = 0xF517
            return try await Self.failure(card) { try await $0.verify(Self.pin().value, for: .administration) }
        }
        // The application related data have 3, 0, 3.
        try await expect(failure(0x6982, 2, 3), is: .userPINAdministers(triesLeft: 2))
        try await expect(failure(0x6983, 0, 3), is: .userPINAdministers(triesLeft: 0))
        try await expect(failure(0x6982, 3, 2), is: .wrongPIN(.admin, triesLeft: 2))
        try await expect(failure(0x6982, 3, 3), is: .wrongPIN(.admin, triesLeft: nil))
        try await expect(failure(0x6983, 3, 0), is: .blocked(.admin))
    }

    private static func setUp(_ service: OpenPGPService, count: Int = 100_000) async throws {
        try await service.setUpKDF(
            admin: pin().value, newUser: pin("new-user").value, newAdmin: pin("new-admin").value, count: count)
    }

    @Test("a key derivation that the card does not have, or cannot have now")
    func derivations() async throws {
        let without = ScriptedCard().with(0xC0, [0x7C])
        #expect(
            try await Self.failure(without) { try await Self.setUp($0) }
                == .unsupported("a key derivation for PINs"))
        try await expect(
            Self.failure(without) {
                try await $0.endKDF(admin: Self.pin().value, newUser: Self.pin().value, newAdmin: Self.pin().value)
            }, is: .badInput("no key derivation is set up"))
        var gnuk = ScriptedCard()
        gnuk.manufacturer = 0xF517
        let full = gnuk.with(0xC5, [UInt8](repeating: 7, count: 60))
        #expect(
            try await Self.failure(full) { try await Self.setUp($0) }
                == .badInput("this card accepts a key derivation only while it holds no key"))
        for count in [99, 1 << 29] {
            guard case .badInput = try await Self.failure(ScriptedCard(), { try await Self.setUp($0, count: count) })
            else {
                Issue.record("\(count) bytes were taken")
                return
            }
        }
        for (user, admin) in [("12345", "12345678"), ("123456", "1234567")] {
            guard
                case .badPINLength = try await Self.failure(
                    ScriptedCard(),
                    {
                        try await $0.setUpKDF(
                            admin: Self.pin().value, newUser: Self.pin(user).value, newAdmin: Self.pin(admin).value)
                    })
            else {
                Issue.record("\(user), \(admin) were taken")
                return
            }
        }
    }

    @Test("on a card that only stores the object, a refusal leaves everything as it was")
    func refusedDerivation() async throws {
        var card = ScriptedCard()
        card.manufacturer = 15
        let old = Hex.encode(Array("12345678".utf8))
        func commands(_ refused: String, _ status: UInt16) async throws -> [String] {
            let log = ScriptedLink.Log()
            let error = try await Self.failure(card.answering(refused, status), log: log) { try await Self.setUp($0) }
            guard case .card(.status(StatusWord(status), _)) = error else {
                Issue.record("\(refused): \(String(describing: error))")
                return []
            }
            return log.text.filter { $0.hasPrefix("0024") || $0.hasPrefix("002c") || $0.hasPrefix("00da") }
        }
        try await expect(commands("00da00f9", 0x6A80).map { $0.prefix(8) }, is: ["00da00f9"])
        let changing = try await commands("0024", 0x6F00)
        expect(changing.map { $0.prefix(8) }, is: ["00da00f9", "00240083", "00da00f9"])
        expect(changing.last, is: "00da00f903810100")
        let sent = try await commands("002c02", 0x6F00)
        let changes = sent.filter { $0.hasPrefix("00240083") }
        #expect(sent.count == 5 && changes.count == 2 && sent.last == "00da00f903810100")
        #expect(changes.first?.contains(old) ?? false)
        #expect(changes.last?.hasSuffix(old) ?? false)
    }

    @Test("the reset code is removed where there is one, and a card that refuses that has no other", arguments: [0, 3])
    func resetCode(_ tries: UInt8) async throws {
        var card = ScriptedCard().answering("00da00d3", 0x6700)
            .with(0xC4, [0, 127, 127, 127, 3, tries, 3])
        card.manufacturer = 15
        let log = ScriptedLink.Log()
        try await Self.setUp(card.open(log))
        expect(log.text.filter { $0.hasPrefix("00da00d3") }.count, is: (tries == 0 ? 0 : 1))
    }

    @Test("a card of an unknown maker that sets the PINs by itself is recognized by the PIN that it takes")
    func setsThemItself() async throws {
        func commands(_ verify: [UInt16]) async throws -> ([String], OpenPGPError?) {
            let log = ScriptedLink.Log()
            var card = ScriptedCard().answering("0024", 0x6985)
                .answering("00200083", inTurn: verify.map { .init(status: $0) })
            card.manufacturer = 0xFFFE
            let service = try await card.open(log)
            var failure: OpenPGPError?
            do { try await Self.setUp(service) } catch let error as OpenPGPError { failure = error }
            return (
                log.text.filter { !$0.hasPrefix("00ca") && !$0.hasPrefix("00a4") }.map { String($0.prefix(8)) }, failure
            )
        }
        // The old PIN is refused, the new one is right; then both new ones are verified.
        let (sent, failure) = try await commands([0x9000, 0x6985, 0x9000])
        expect(sent, is: ["00200083", "00da00f9", "00240083", "00200083", "00200083", "00200082", "00200083"])
        expect(failure, is: nil)
        let (_, neither) = try await commands([0x9000, 0x6982, 0x6982])
        guard case .unfinished(let standing, _) = neither else {
            Issue.record("\(String(describing: neither))")
            return
        }
        expect(standing, is: OpenPGPStanding(isHashed: true, user: .unknown, admin: .unknown))
    }

    @Test("after a set-up that was interrupted, the PIN is tried as it was typed, but not with the last try")
    func interruptedDerivation() async throws {
        let object = try Hex.decode("8101038201088304000003e884083031323334353637")
        let raw = "0020008308" + Hex.encode(Array("12345678".utf8))
        func attempt(_ tries: UInt8) async throws -> [String] {
            let log = ScriptedLink.Log()
            var card = ScriptedCard().answering("00ca00f9", 0x9000, object).answering(raw, 0x9000)
                .answering("00200083", 0x6982).answering("00da00d3", 0x6F00)
                .answering("00ca00c4", 0x9000, [0, 127, 127, 127, 3, 0, tries])
            card.manufacturer = 15
            _ = try await Self.failure(card, log: log) { try await Self.setUp($0) }
            return log.text
        }
        let sent = try await attempt(2)
        #expect(sent.contains(raw))
        // The derivation that is there is kept: only with its salts are hashes known.
        #expect(!sent.contains { $0.hasPrefix("00da00f9") })
        #expect(try await !attempt(1).contains(raw))
        var yubiKey = ScriptedCard().answering("00ca00f9", 0x9000, object).answering("00200083", 0x6982)
        yubiKey.manufacturer = 6
        let log = ScriptedLink.Log()
        #expect(
            try await Self.failure(yubiKey, log: log) { try await Self.setUp($0) }
                == .wrongPIN(.admin, triesLeft: 2))
        #expect(!log.text.contains(raw))
    }

    @Test("Gnuk's PINs are those of a new card when a derivation ends")
    func endsOnGnuk() async throws {
        let log = ScriptedLink.Log()
        let object = try Hex.decode("8101038201088304000003e884083031323334353637")
        let hashed = ScriptedCard.Answer(status: 0x9000, data: object)
        var gnuk = ScriptedCard().answering("00ca00f9", inTurn: [hashed, .init(status: 0x9000)])
        gnuk.manufacturer = 0xF517
        try await gnuk.open(log)
            .endKDF(admin: Self.pin().value, newUser: Self.pin("123456").value, newAdmin: Self.pin("new-admin").value)
        let changes = log.text.filter { $0.hasPrefix("0024") || $0.hasPrefix("00da") }
        func change(_ reference: String, _ old: String, _ new: String) -> String {
            let data = Hex.encode(Array((old + new).utf8))
            return "0024" + reference + Hex.encode([UInt8(data.count / 2)]) + data
        }
        expect(changes, is: ["00da00f9", change("0083", "12345678", "new-admin")])
    }

    @Test("a derivation has three salts of 8 bytes and SHA-256 or SHA-512")
    func newDerivations() throws {
        let salt = [UInt8](repeating: 1, count: 8)
        #expect(throws: WireError.self) {
            try OpenPGPKDF(.sha256, count: 1000, user: [1], reset: salt, admin: salt)
        }
        #expect(throws: WireError.self) { try OpenPGPKDF(.sha1, count: 1000, user: salt, reset: salt, admin: salt) }
        let kdf = try OpenPGPKDF(.sha512, count: 1000, user: salt, reset: [2] + salt.dropFirst(), admin: salt)
        let object = kdf.encoded(user: Secret([7]), admin: Secret([8]))
        try expect(OpenPGPKDF(decoding: object), is: kdf)
        try expect(OpenPGPKDF(decoding: TLV(0xF9, object).encoded), is: kdf)
        let user = kdf.derive(Self.pin().value, .user).copyBytes()
        #expect(user.count == 64 && user != kdf.derive(Self.pin().value, .reset).copyBytes())
        #expect(throws: WireError.self) {
            try OpenPGPKDF(decoding: Hex.decode("81010382010883020001" + "84083031323334353637"))
        }
    }
}
