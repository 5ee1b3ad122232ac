// SPDX-License-Identifier: Apache-2.0

import Testing
import YKCrypto
import YKOATH
import YKProtocols
import YKTestSupport
import YKTransport
import YKWire

/// What each status word means, command by command.
struct StatusTests {
    private static let select: [UInt8] = [0x79, 3, 5, 7, 1, 0x71, 8, 1, 2, 3, 4, 5, 6, 7, 8, 0x90, 0x00]

    private func service(_ status: UInt16) async throws -> OATHService {
        let word = [UInt8(status >> 8), UInt8(status & 0xFF)]
        let link = ScriptedLink { $0[1] == 0xA4 && $0[2] == 4 ? Self.select : word }
        return try await OATHService.open(CardChannel(link: link, environment: environment()))
    }

    private static let calculating: [(UInt16, OATHError)] = [
        (0x6982, .touchTimeout), (0x6985, .touchTimeout), (0x6984, .noSuchAccount),
        (0x6A82, .noSuchAccount), (0x6581, .damaged), (0x6F00, .card(.status(.aborted, during: "CALCULATE"))),
        (0x1234, .card(.status(StatusWord(0x1234), during: "CALCULATE"))),
    ]

    @Test(arguments: calculating)
    func calculate(_ status: UInt16, _ error: OATHError) async throws {
        let service = try await service(status)
        await #expect(throws: error) { try await service.code(for: OATHAccountID(issuer: nil, name: "a")) }
    }

    private static let putting: [(UInt16, OATHError)] = [
        (0x6982, .locked), (0x6A84, .full), (0x6A80, .card(.status(.incorrectParameters, during: "PUT"))),
        (0x6581, .damaged),
    ]

    @Test(arguments: putting)
    func put(_ status: UInt16, _ error: OATHError) async throws {
        let service = try await service(status)
        await #expect(throws: error) { try await service.put(Virtual.account("a")) }
    }

    /// pico-fido says "no password is set" of a wrong one, after it asked for one.
    @Test func aWrongPassword() async throws {
        let locked: [UInt8] = [
            0x79, 3, 5, 7, 1, 0x71, 8, 1, 2, 3, 4, 5, 6, 7, 8, 0x74, 8, 1, 2, 3, 4, 5, 6, 7, 8, 0x7B, 1, 1, 0x90, 0,
        ]
        for status in [[0x69, 0x84], [0x6A, 0x80]] as [[UInt8]] {
            let link = ScriptedLink { $0[1] == 0xA4 && $0[2] == 4 ? locked : status }
            let service = try await OATHService.open(CardChannel(link: link, environment: environment()))
            await #expect(throws: OATHError.wrongPassword) {
                try await service.unlock(with: AccessKey(rawKey: Secret([1])))
            }
        }
    }

    @Test func setCode() async throws {
        let service = try await service(0x6984)
        await #expect(throws: OATHError.card(.status(.dataInvalid, during: "SET CODE"))) {
            try await service.setAccessKey(AccessKey(rawKey: Secret([1])))
        }
        #expect(await !service.info.hasPassword)
        await #expect(throws: OATHError.self) { try await service.removeAccessKey() }
        await #expect(throws: OATHError.self) { try await service.reset() }
    }

    @Test func findsDamagedAccounts() async throws {
        let link = ScriptedLink { command in
            switch command[1] {
            case 0xA4: Self.select
            case 0xA1: [0x72, 2, 0x21, 0x61, 0x72, 2, 0x21, 0x62, 0x72, 2, 0x11, 0x63, 0x72, 2, 0x21, 0x64, 0x90, 0]
            case 0xA2 where command.contains(0x62): [0x65, 0x81]
            case 0xA2 where command.contains(0x64): [0x69, 0x85]
            default: [0x76, 5, 6, 0, 0, 0, 1, 0x90, 0x00]
            }
        }
        let service = try await OATHService.open(CardChannel(link: link, environment: environment()))
        try await expect(service.damagedAccounts().map(\.name), is: ["b"])
    }

    @Test func oneFailedAccountDoesNotHideTheOthers() async throws {
        let link = ScriptedLink { command in
            switch command[1] {
            case 0xA4 where command[2] == 4: Self.select
            case 0xA4:
                [0x71, 1, 0x61, 0x76, 5, 6, 0, 0, 0, 1, 0x71, 4] + "60/b".utf8 + [0x76, 5, 6, 0, 0, 0, 1, 0x90, 0]
            default: [0x65, 0x81]
            }
        }
        let service = try await OATHService.open(CardChannel(link: link, environment: environment()))
        let entries = try await service.codes()
        expect(
            entries.map(\.outcome),
            is: [
                .code(OATHCode(text: "000001", validFrom: 30, validTo: 60)), .failed(.damaged),
            ])
    }

    @Test func aSteamCodeThatMayBeReducedIsAskedForInFull() async throws {
        let hmac = [UInt8](1...20)
        let link = ScriptedLink { command in
            switch command[1] {
            case 0xA4 where command[2] == 4: Self.select
            case 0xA4: [0x71, 7] + "Steam:f".utf8 + [0x76, 5, 6, 0, 0, 0, 9, 0x90, 0]
            default: [0x75, 21, 6] + hmac + [0x90, 0]
            }
        }
        let service = try await OATHService.open(CardChannel(link: link, environment: environment()))
        let code = try #require(try await service.codes().first?.code)
        expect(code.text, is: SteamGuard.code(0x0506_0708))
        await expect(service.statistics.exchanges, is: 3)
    }

    /// A Nitrokey 3 answers SELECT with its version, a salt and its serial number.
    @Test func theApplicationOfANitrokeyIsAnother() async throws {
        let reply: [UInt8] = [0x79, 3, 4, 13, 0, 0x8F, 4, 1, 2, 3, 4, 0x90, 0]
        await #expect(throws: OATHError.otherApplication) {
            _ = try await OATHService.open(CardChannel(link: ScriptedLink { _ in reply }, environment: environment()))
        }
        expect(CardError(causing: OATHError.otherApplication), is: .appletMissing(.oath))
    }

    @Test func theApplicationIsMissing() async throws {
        for status: [UInt8] in [[0x6A, 0x82], [0x69, 0x99], [0x6D, 0x00]] {
            await #expect(throws: OATHError.card(.appletMissing(.oath))) {
                let link = ScriptedLink { _ in status }
                _ = try await OATHService.open(CardChannel(link: link, environment: environment()))
            }
        }
    }

    @Test func aSelectReplyKeepsWhatItDoesNotKnow() async throws {
        let link = ScriptedLink { _ in [0x71, 2, 1, 2, 0x8F, 1, 7, 0x90, 0x00] }
        let info = try await OATHService.open(CardChannel(link: link, environment: environment())).info
        expect(info.version, is: nil)
        expect(info.others, is: [TLV(0x8F, [7])])
        expect(info.deviceID, is: "oShx/uIQ+4YZKR6uoZRYHA")
        expect(info.supports(.touch), is: nil)
    }
}
