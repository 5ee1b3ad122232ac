// SPDX-License-Identifier: Apache-2.0

import Testing
import YKCrypto
import YKTestSupport
import YKTransport
import YKVirtualKey
import YKWire

@testable import YKOpenPGP

/// Answers of other firmware, of which none ends an operation that can do without it; and how few questions are asked.
struct OddAnswerTests {
    private static let card = ScriptedCard().answering("00ca005e", 0x9000, Array("jane".utf8))
        .answering("00ca5f50", 0x9000).answering("00ca0065", 0x9000, [0x5B, 4] + Array("Jane".utf8))
        .answering("00ca007a", 0x9000, [0x93, 3, 0, 0, 7])

    @Test func reportsEverything() async throws {
        let report = try await Self.card.open().report()
        #expect(report.cardholder.login == "jane" && report.cardholder.name == "Jane" && report.cardholder.url == nil)
        #expect(report.signatures == 7 && report.usesKDF == false && report.problems.isEmpty)
        expect(report.firmware, is: FirmwareVersion(5, 4, 3))
    }

    /// Each part is missing from the report when it is refused, and only that part.
    @Test(
        arguments: ["00ca005e", "00ca5f50", "00ca0065", "00ca007a", "00ca00f9", "00f1"],
        [
            0x6700, 0x6982, 0x6985, 0x6A80, 0x6A81, 0x6A82, 0x6A86, 0x6A88, 0x6B00, 0x6D00, 0x6E00, 0x6F00,
        ] as [UInt16])
    func reportsTheRest(_ command: String, _ status: UInt16) async throws {
        var card = Self.card
        card.answers.insert((command, [.init(status: status)]), at: 0)
        let report = try await card.open().report()
        expect(report.status.pins.retries.user, is: 3)
        expect((report.signatures == nil), is: (command == "00ca007a"))
        expect((report.cardholder.login == nil), is: (command == "00ca005e"))
        expect((report.cardholder.name == nil), is: (command == "00ca0065"))
        expect((report.firmware == nil), is: (command == "00f1"))
        let isAbsence = [0x6985, 0x6A81, 0x6A82, 0x6A86, 0x6A88, 0x6B00, 0x6D00, 0x6E00].contains(status)
        let isProblem = !isAbsence && command != "00f1"
        expect(report.problems.count, is: (isProblem ? 1 : 0))
    }

    @Test func endsWhenTheLinkFails() async throws {
        let link = ScriptedLink { command throws(LinkError) in
            if command[1] == 0xA4 { return [0x90, 0x00] }
            throw LinkError.cancelled
        }
        let service = try await OpenPGPService.open(CardChannel(link: link))
        await #expect(throws: OpenPGPError.card(.link(.cancelled))) { try await service.report() }
    }

    @Test func readsNamesInLatin1() throws {
        let related: [UInt8] =
            [0x5B, 12] + Array("M".utf8) + [0xFC] + Array("ller<<J".utf8) + [0xF6] + Array("rg".utf8)
        try expect(OpenPGPCardholder(related: related, login: [], url: []).name, is: "Jörg Müller")
    }

    /// A card that lists several import formats gets the numbers of all of them.
    @Test func choosesTheImportFormatWithTheMostNumbers() throws {
        let listed = try ["010800001100", "010800001101", "010800001103", "010c00001101"].map { try Hex.decode($0) }
        let type = OpenPGPKeyType.rsa(bits: 2048)
        expect(Hex.encode(type.attributes(for: .signature, among: listed)), is: "010800001103")
        expect(Hex.encode(type.attributes(for: .signature, among: Array(listed.prefix(1)))), is: "010800001100")
    }

    /// SELECT, 6E, the public key, F9, VERIFY, PSO.
    @Test func asksNothingTwiceForASignature() async throws {
        for model in [DeviceModel.yubiKey, .openPGP] {
            let key = try Bench.key(model: model)
            let maker = try await Bench.open(key)
            try await maker.verifyUsual(.administration)
            _ = try await maker.generateKey(.signature, .curve(.p256))
            await maker.rest()
            let service = try await Bench.open(key)
            _ = try await service.publicKey(.signature)
            try await expect(service.status().pins.retries.user, is: 3)
            try await service.verifyUsual(.signing)
            #expect(try await service.touchPolicy(.signature) != .on)
            _ = try await service.sign(.message([1, 2, 3]))
            await expect(service.statistics.exchanges, is: 6)
            try await service.verifyUsual(.signing)
            _ = try await service.detachedSignature(of: [1])
            await expect(service.statistics.exchanges, is: 8)
        }
    }
}
