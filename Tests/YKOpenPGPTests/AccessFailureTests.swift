// SPDX-License-Identifier: Apache-2.0

import Testing
import YKCrypto
import YKProtocols
import YKTestSupport
import YKTransport
import YKWire

@testable import YKOpenPGP

/// What cards refuse, what broken ones answer, and what is refused before it is sent: PINs, certificates, reset.
struct AccessFailureTests {
    private static func pin(_ text: String = "12345678") -> SharedSecret { SharedSecret(Secret(utf8: text)) }

    private static func failure(
        _ card: ScriptedCard, verified: [OpenPGPAccess] = [], log: ScriptedLink.Log = ScriptedLink.Log(),
        _ operation: (OpenPGPService) async throws -> Void
    ) async throws -> OpenPGPError? {
        let service = try await card.open(log)
        for access in verified { try await service.verify(Secret(utf8: "12345678"), for: access) }
        return await #expect(throws: OpenPGPError.self) { try await operation(service) }
    }

    private static func isMalformed(_ error: OpenPGPError?, _ command: String) -> Bool {
        guard case .card(.malformed(_, command)) = error else { return false }
        return true
    }

    // MARK: Opening

    @Test("an application that is missing, fails, or is activated")
    func opening() async throws {
        func failure(_ status: UInt16) async -> OpenPGPError? {
            await #expect(throws: OpenPGPError.self) {
                _ = try await ScriptedCard().answering("00a4", status).open()
            }
        }
        await expect(failure(0x6A82), is: .card(.appletMissing(.openPGP)))
        await expect(failure(0x6985), is: .terminated)
        await expect(failure(0x6F00), is: .card(.status(.aborted, during: "SELECT \(AID.openPGP.title)")))
        let log = ScriptedLink.Log()
        let active = try await OpenPGPService.activate(ScriptedCard().channel(log))
        expect(log.text.count, is: 1)
        await expect(active.statistics.exchanges, is: 1)
        await active.rest()
        let terminated = ScriptedCard().answering("00a4", inTurn: [.init(status: 0x6285), .init(status: 0x9000)])
            .answering("0044", 0x9000)
        let second = ScriptedLink.Log()
        _ = try await OpenPGPService.activate(terminated.channel(second))
        expect(second.text.map { $0.prefix(4) }, is: ["00a4", "0044", "00a4"])
        await #expect(throws: OpenPGPError.card(.status(.aborted, during: "ACTIVATE FILE"))) {
            let failing = ScriptedCard().answering("00a4", 0x6285).answering("0044", 0x6F00)
            _ = try await OpenPGPService.activate(failing.channel())
        }
        await #expect(throws: OpenPGPError.card(.appletMissing(.openPGP))) {
            _ = try await OpenPGPService.activate(ScriptedCard().answering("00a4", 0x6A82).channel())
        }
    }

    @Test("objects that are malformed, or refused")
    func objects() async throws {
        func failure(
            _ command: String, _ status: UInt16, _ data: [UInt8], _ operation: (OpenPGPService) async throws -> Void
        ) async throws -> OpenPGPError? {
            try await Self.failure(ScriptedCard().answering(command, status, data), operation)
        }
        for data: [UInt8] in [[], [0x93, 5, 0, 0, 0, 0, 1], [0x7A, 2, 0x94, 0]] {
            try await expect(ScriptedCard().answering("00ca007a", 0x9000, data).open().signatureCount(), is: nil)
        }
        let error = try await failure("00ca006e", 0x9000, [0x6E, 1]) { _ = try await $0.status() }
        #expect(Self.isMalformed(error, "GET DATA"))
        let refused = try await failure("00ca00f9", 0x6982, []) { _ = try await $0.kdf() }
        expect(refused, is: .card(.status(.securityStatusNotSatisfied, during: "GET DATA")))
        let unknown = try await failure("00ca00f9", 0x9000, [0x81, 1, 7]) { _ = try await $0.kdf() }
        #expect(Self.isMalformed(unknown, "GET DATA"))
        try await expect(ScriptedCard().answering("00f1", 0x6982).open().firmware(), is: nil)
        try await expect(ScriptedCard().answering("00f1", 0x9000, [5, 4]).open().firmware(), is: nil)
        let status = try await failure("00ca00c4", 0x9000, [1, 127, 127, 127, 3, 0]) { _ = try await $0.pinStatus() }
        #expect(Self.isMalformed(status, "GET DATA"))
        try await expect(ScriptedCard().answering("00ca00f9", 0x6A88).open().kdf(), is: nil)
    }

    // MARK: PINs

    @Test("a wrong PIN is told by any of the words that cards have for it")
    func wrongPINs() async throws {
        func failure(_ status: UInt16, _ card: ScriptedCard = ScriptedCard()) async throws -> OpenPGPError? {
            try await Self.failure(card.answering("002000", status)) {
                try await $0.verify(Self.pin().value, for: .administration)
            }
        }
        for status: UInt16 in [0x6982, 0x63C2, 0x6300] {
            // Only the admin PIN's counter has moved.
            let counted = ScriptedCard().answering("00ca00c4", 0x9000, [1, 127, 127, 127, 3, 0, 2])
            try await expect(failure(status, counted), is: .wrongPIN(.admin, triesLeft: 2))
        }
        try await expect(failure(0x6983), is: .blocked(.admin))
        try await expect(failure(0x6F00), is: .card(.status(.aborted, during: "VERIFY")))
        let silent = ScriptedCard().answering("00ca00c4", 0x6F00)
        try await expect(failure(0x63C2, silent), is: .wrongPIN(.admin, triesLeft: 2))
        try await expect(failure(0x6982, silent), is: .wrongPIN(.admin, triesLeft: nil))
        let empty = ScriptedCard().answering("00ca00c4", 0x9000, [0, 127, 127, 127, 0, 0, 0])
        try await expect(failure(0x6982, empty), is: .blocked(.admin))
        let changing = ScriptedCard().answering("0024", 0x6985)
        try await expect(
            Self.failure(changing) {
                try await $0.changePIN(.user, from: Self.pin().value, to: Self.pin().value)
            }, is: .refusedPIN(.user))
        let old = ScriptedCard().answering("0024", 0x6985).answering("00f1", 0x9000, [0x01, 0x00, 0x19])
        try await expect(
            Self.failure(old) {
                try await $0.changePIN(.user, from: Self.pin().value, to: Self.pin().value)
            }, is: .wrongPIN(.user, triesLeft: 2))
        try await expect(
            Self.failure(ScriptedCard()) {
                try await $0.changePIN(.reset, from: Self.pin().value, to: Self.pin().value)
            }, is: .badInput("a reset code is set, not changed"))
    }

    @Test("what needs the admin PIN says so")
    func administration() async throws {
        let operations: [(String, @Sendable (OpenPGPService) async throws -> Void)] = [
            ("00da00d3", { try await $0.setResetCode(Self.pin().value) }),
            ("002c02", { try await $0.resetPIN(to: Self.pin().value) }),
            ("00f2", { try await $0.setRetries(user: 3, reset: 3, admin: 3) }),
            ("00da00c4", { try await $0.setSignaturePolicy(needsPINForEach: true) }),
            ("00da7f21", { try await $0.putCertificate([0x30, 0], .signature) }),
            ("00da7f21", { try await $0.deleteCertificate(.signature) }),
        ]
        for (command, operation) in operations {
            let card = ScriptedCard().answering(command, 0x6982)
            try await expect(Self.failure(card, operation), is: .pinRequired(.admin), "\(command)")
            let failing = ScriptedCard().answering(command, 0x6F00)
            guard case .card(.status(.aborted, _)) = try await Self.failure(failing, operation) else {
                Issue.record("\(command)")
                return
            }
        }
    }

    @Test("a reset code that is not set is blocked, not wrong")
    func resetCodes() async throws {
        func failure(_ status: UInt16) async throws -> OpenPGPError? {
            try await Self.failure(ScriptedCard().answering("002c00", status)) {
                try await $0.resetPIN(to: Self.pin().value, code: Self.pin().value)
            }
        }
        try await expect(failure(0x6A80), is: .blocked(.reset))
        try await expect(failure(0x6983), is: .blocked(.reset))
        try await expect(failure(0x6982), is: .blocked(.reset))
        let some = ScriptedCard().answering("00ca00c4", 0x9000, [0, 127, 127, 127, 3, 2, 3]).answering("002c00", 0x6982)
        #expect(
            try await Self.failure(some) { try await $0.resetPIN(to: Self.pin().value, code: Self.pin().value) }
                == .wrongPIN(.reset, triesLeft: 2))
    }

    @Test("numbers of tries that firmware before 4.3.1 and other cards do not set")
    func retries() async throws {
        var old = ScriptedCard()
        old.firmware = [0x04, 0x03, 0x00]
        var other = ScriptedCard()
        other.manufacturer = 15
        for card in [old, other] {
            #expect(
                try await Self.failure(card) { try await $0.setRetries(user: 3, reset: 3, admin: 3) }
                    == .unsupported("setting the number of tries"))
        }
    }

    // MARK: Certificates, attestation, reset

    @Test("certificates of cards with one, with none, and with a hostile one")
    func certificates() async throws {
        let early = ScriptedCard().answering("00a5", 0x6D00).answering("00ca7f21", 0x9000, [0x30, 0x00])
        try await expect(early.open().certificate(.authentication), is: [0x30, 0x00])
        #expect(
            try await Self.failure(early) { _ = try await $0.certificate(.signature) }
                == .unsupported("a certificate of the signature key"))
        let failing = ScriptedCard().answering("00a5", 0x6F00)
        #expect(
            try await Self.failure(failing) { _ = try await $0.certificate(.signature) }
                == .card(.status(.aborted, during: "SELECT DATA")))
        for status: UInt16 in [0x6A88, 0x9000] {
            let empty = ScriptedCard().answering("00ca7f21", status)
            #expect(
                try await Self.failure(empty) { _ = try await $0.certificate(.decryption) }
                    == .noCertificate(.decryption))
        }
        let locked = ScriptedCard().answering("00ca7f21", 0x6982)
        #expect(
            try await Self.failure(locked) { _ = try await $0.certificate(.decryption) }
                == .card(.status(.securityStatusNotSatisfied, during: "GET DATA")))
        for bytes in [[], [UInt8](repeating: 1, count: 0x10000)] {
            #expect(
                try await Self.failure(ScriptedCard()) { try await $0.putCertificate(bytes, .signature) }
                    == .badInput("a certificate of \(bytes.count) bytes"))
        }
        var other = ScriptedCard()
        other.manufacturer = 15
        #expect(
            try await Self.failure(other) { _ = try await $0.certificate(.attestation) }
                == .unsupported("the attestation slot"))
    }

    @Test(
        "cardholder certificates are counted as the maker counts them",
        arguments: [
            (UInt16(6), [0x02, 0x01, 0x00]), (15, [0x02, 0x01, 0x00]), (0xF1D0, [0x00, 0x01, 0x02]),
        ] as [(UInt16, [UInt8])])
    func occurrences(_ manufacturer: UInt16, _ numbers: [UInt8]) async throws {
        var card = ScriptedCard().answering("00ca7f21", 0x9000, [0x30, 0x00])
        card.manufacturer = manufacturer
        let log = ScriptedLink.Log()
        let service = try await card.open(log)
        for slot in [OpenPGPSlot.signature, .decryption, .authentication] { _ = try await service.certificate(slot) }
        let selections = log.commands.filter { $0[1] == 0xA5 }
        expect(selections.map { $0[2] }, is: numbers)
        // Firmware up to 5.4.3 has the length of the list before it.
        #expect(selections.allSatisfy { ($0[4] == 7) == (manufacturer == 6) })
    }

    @Test("what a status word to GET ATTESTATION means")
    func attestations() async throws {
        func failure(_ status: UInt16, _ verified: [OpenPGPAccess] = []) async throws -> OpenPGPError? {
            try await Self.failure(ScriptedCard().answering("80fb", status), verified: verified) {
                _ = try await $0.attest(.signature)
            }
        }
        try await expect(failure(0x6982), is: .pinRequired(.user))
        try await expect(failure(0x6982, [.signing]), is: .touchTimeout(.attestation))
        for status: UInt16 in [0x6985, 0x6A88, 0x6A80] {
            try await expect(failure(status), is: .notAttestable(.signature))
        }
        try await expect(failure(0x6F00), is: .card(.status(.aborted, during: "GET ATTESTATION")))
        #expect(
            try await Self.failure(ScriptedCard()) { _ = try await $0.attest(.attestation) }
                == .notAttestable(.attestation))
    }

    private static func resetting(_ card: ScriptedCard) async throws -> (error: OpenPGPError?, sent: [String]) {
        let log = ScriptedLink.Log()
        let service = try await card.open(log)
        var error: OpenPGPError?
        do throws(OpenPGPError) { try await service.reset() } catch let caught { error = caught }
        return (error, log.text.filter { $0.hasPrefix("0020") || $0.hasPrefix("00e6") || $0.hasPrefix("0044") })
    }

    @Test("a card that refuses the command once its PINs are blocked is not said to be unchanged")
    func tellsARefusalAfterBlocking() async throws {
        let card = ScriptedCard().answering("00e6", inTurn: [.init(status: 0x6982), .init(status: 0x6D00)])
            .answering("0020", 0x6983)
        let (error, sent) = try await Self.resetting(card)
        #expect(
            error
                == .resetUnfinished(
                    isTerminated: false, .status(.unknownInstruction, during: "TERMINATE DF")))
        expect(sent.count { $0.hasPrefix("0020") }, is: 2)
    }

    @Test("a YubiKey NEO, whose historical bytes are zeros, is reset if it has the command (applet 1.0.6)")
    func resetsNEO() async throws {
        func neo(_ patch: UInt8, _ word: UInt16) -> ScriptedCard {
            var card = ScriptedCard().with(0x5F52, [0, 0x73, 0, 0, 0x80] + [UInt8](repeating: 0, count: 10))
                .answering("00e6", inTurn: [.init(status: word), .init(status: 0x9000)]).answering("0044", 0x9000)
                .answering("0020", 0x6983)
            card.firmware = [1, 0, patch]
            return card
        }
        let (error, sent) = try await Self.resetting(neo(0x12, 0x6985))
        #expect(error == nil && sent.map { $0.prefix(4) } == ["00e6", "0020", "0020", "00e6", "0044"])
        let (unknown, none) = try await Self.resetting(neo(0x12, 0x6D00))
        #expect(unknown == .unsupported("a reset; nothing was changed") && none.map { $0.prefix(4) } == ["00e6"])
        let (old, nothing) = try await Self.resetting(neo(0x05, 0x9000))
        #expect(old == .unsupported("a reset; nothing was changed") && nothing.isEmpty)
    }

    @Test("no PIN is blocked on a card that cannot be terminated")
    func resetsNothing() async throws {
        for status: UInt16 in [0x6D00, 0x6E00, 0x6A81, 0x6B00] {
            let (error, sent) = try await Self.resetting(ScriptedCard().answering("00e6", status))
            #expect(error == .unsupported("a reset; nothing was changed") && sent.count == 1)
        }
        let (odd, attempts) = try await Self.resetting(ScriptedCard().answering("00e6", 0x6F00))
        #expect(odd == .card(.status(.aborted, during: "TERMINATE DF")) && attempts.count == 1)
        // Historical bytes: no life cycle management.
        let still = ScriptedCard().with(0x5F52, [0x00, 0x73, 0x00, 0x00, 0xE0, 0x00, 0x90, 0x00])
        let (error, sent) = try await Self.resetting(still)
        #expect(error == .unsupported("a reset; nothing was changed") && sent.isEmpty)
    }

    @Test("a reset uses up as many tries as the card has counted, whatever it says about wrong PINs")
    func resets() async throws {
        let twice = [ScriptedCard.Answer(status: 0x6982), .init(status: 0x9000)]
        let card = ScriptedCard().answering("00e6", inTurn: twice).answering("0044", 0x9000)
        for status: UInt16 in [0x6982, 0x63C1] {
            let (error, sent) = try await Self.resetting(card.answering("0020", status))
            #expect(error == nil && sent.filter { $0.hasPrefix("00200081") }.count == 3)
            expect(sent.filter { $0.hasPrefix("00200083") }.count, is: 3)
        }
        let (blocked, few) = try await Self.resetting(card.answering("0020", 0x6983))
        #expect(blocked == nil && few.filter { $0.hasPrefix("0020") }.count == 2)
        let (error, sent) = try await Self.resetting(card.answering("0020", 0x6F00))
        #expect(error == .card(.status(.aborted, during: "VERIFY")) && sent.count == 2)
        let kdf = "8101038201088304000186a084083031323334353637"
        let hashed = card.answering("00ca00f9", 0x9000, try Hex.decode(kdf)).answering("0020", 0x6983)
        let guess = String(repeating: "40", count: 32)
        #expect(try await Self.resetting(hashed).sent.contains { $0.hasPrefix("00200081") && $0.contains(guess) })
    }

    @Test("a card whose counters do not move is left after as many wrong PINs as it had tries")
    func endless() async throws {
        let (error, sent) = try await Self.resetting(ScriptedCard().answering("0020", 0x6982).answering("00e6", 0x6982))
        expect(error, is: .notBlocked(user: 2, admin: 2))
        expect(sent.filter { $0.hasPrefix("0020") }.count, is: 6)
    }
}
