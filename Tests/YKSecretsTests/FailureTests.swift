// SPDX-License-Identifier: Apache-2.0

import Testing
import YKCrypto
import YKFIDO
import YKProtocols
import YKTestSupport
import YKTransport
import YKVirtualKey
import YKWire

@testable import YKSecrets

/// What keys refuse, what broken ones answer, and what is refused before it is sent.
struct FailureTests {
    /// A key that answers every command but SELECT in the same way.
    private static func open(
        _ status: UInt16, _ data: [UInt8] = [], version: [UInt8] = [4, 14, 0], hasPIN: Bool = true,
        log: ScriptedLink.Log = ScriptedLink.Log()
    ) async throws -> SecretsService {
        try await Bench.open(
            ScriptedLink(log: log) { command in
                command[1] == 0xA4
                    ? [0x79, 3] + version + (hasPIN ? [0x82, 1, 8] : []) + [0x8F, 4, 0, 0, 0, 1, 0x90, 0]
                    : ResponseAPDU(StatusWord(status), data: data).encoded
            })
    }

    private static let entry = NewSecretsEntry(name("x"), otp: SecretsOTP(.totp, secret: vectorSecret))

    @Test("what a status word means depends on the command")
    func statusWords() async throws {
        typealias Case = (UInt16, @Sendable (SecretsService) async throws -> Void, SecretsError)
        let cases: [Case] = [
            (0x6983, { try await $0.add(Self.entry) }, .entryExists(name("x"))),
            (0x6A84, { try await $0.add(Self.entry) }, .full),
            (0x6A80, { try await $0.add(Self.entry) }, .card(.status(.incorrectParameters, during: "PUT"))),
            (0x6300, { try await $0.verify("123456", of: name("x")) }, .wrongCode),
            (0x6985, { _ = try await $0.nextCode(of: name("x")) }, .wrongKind(name("x"))),
            (0x6982, { _ = try await $0.nextCode(of: name("x")) }, .touchTimeout),
            (0x6A82, { _ = try await $0.content(of: name("x")) }, .noSuchEntry(name("x"))),
            (0x6300, { try await $0.verify(pin: secret("1")) }, .wrongPIN(triesLeft: 8)),
            (0x6300, { try await $0.changePIN(from: secret("1"), to: secret("2")) }, .wrongPIN(triesLeft: 8)),
            (0x6983, { try await $0.update(name("x"), SecretsChange(name: name("y"))) }, .entryExists(name("y"))),
            (0x6500, { try await $0.reset() }, .card(.status(StatusWord(0x6500), during: "RESET"))),
            (0x6A82, { _ = try await $0.entries() }, .card(.status(.notFound, during: "LIST"))),
        ]
        for (status, operation, error) in cases {
            let service = try await Self.open(status)
            await #expect(throws: error) { try await operation(service) }
        }
        #expect(SecretsError.full.cardCause == nil && SecretsError.full.refusedCredential == nil)
        expect(SecretsError.card(.link(.closed)).cardCause, is: .link(.closed))
    }

    @Test("replies of another length or form are malformed")
    func replies() async throws {
        func malformed(
            _ data: [UInt8], _ command: String, _ operation: (SecretsService) async throws -> Void
        ) async throws {
            let service = try await Self.open(0x9000, data)
            let error = await #expect(throws: SecretsError.self) { try await operation(service) }
            guard case .card(.malformed(_, command)) = error else {
                Issue.record("\(command) \(data): \(String(describing: error))")
                return
            }
        }
        for data: [UInt8] in [[0x72], [0x72, 0], [0x72, 1, 0x21], [0x72, 3, 0x21, 1], [0x71, 3, 0x21, 0x61, 0]] {
            try await malformed(data, "LIST") { _ = try await $0.entries() }
        }
        for data: [UInt8] in [
            [], [0x76], [0x76, 5, 6, 0, 0, 0], [0x76, 5, 0, 0, 0, 0, 1], [0x76, 5, 11, 0, 0, 0, 1],
            [0x76, 6, 6, 0, 0, 0, 1, 2], [0x76, 5, 6, 0, 0, 0, 1, 2], [0x77, 0], [0x76, 0],
        ] {
            try await malformed(data, "CALCULATE") { _ = try await $0.nextCode(of: name("x")) }
        }
        for data: [UInt8] in [[0x83], [0x83, 5, 1], [0x84, 0x80, 1]] {
            try await malformed(data, "GET CREDENTIAL") { _ = try await $0.content(of: name("x")) }
        }
    }

    @Test("lengths are one byte of 0 to 255, and unknown values and fields are kept or skipped")
    func openness() async throws {
        let long = [UInt8](repeating: 0x61, count: 200)
        let list = try await Self.open(0x9000, [0x72, 202, 0x93] + long + [0xFF, 0x72, 2, 0x21, 0]).entries()
        #expect(list.map(\.name.bytes) == [long, []] && list[0].kind.description == "type 9")
        #expect(list[0].algorithm.description == "algorithm 3" && list[0].needsTouch == true)
        let reply = [0x99, 1, 0, 0x78, 0, 0x83, 200] + long + [0x84, 2, 0xFF, 0x00]
        let content = try await Self.open(0x9000, reply).content(of: name("x"))
        #expect(content.record.login?.utf8.count == 200 && content.record.password?.value.count == 2)
        #expect(content.kind == nil && content.record.metadata == nil && content.name == name("x"))
        let kinds: [SecretsKind] = [.hotp, .totp, .reverseHOTP, .hmac, .none]
        expect(kinds.map(\.description), is: ["hotp", "totp", "reverse-hotp", "hmac", "password"])
        expect([SecretsAlgorithm.sha1, .sha256].map(\.description), is: ["sha1", "sha256"])
    }

    @Test("a card that is not a Nitrokey has no Secrets application")
    func distinction() async throws {
        let yubiKey = try VirtualKey.new()
        await #expect(throws: SecretsError.otherApplication) {
            _ = try await SecretsService.open(CardChannel(link: yubiKey.link(), environment: .instant))
        }
        let openPGP = try VirtualKey.new(.openPGP)
        await #expect(throws: SecretsError.card(.appletMissing(.oath))) {
            _ = try await SecretsService.open(CardChannel(link: openPGP.link(), environment: .instant))
        }
        await #expect(throws: SecretsError.card(.appletMissing(.oath))) {
            _ = try await Bench.open(yubiKey, over: .hid)
        }
        await #expect(throws: SecretsError.unsupported(.application, has: FirmwareVersion(4, 9, 0))) {
            _ = try await Self.open(0x9000, version: [4, 9, 0])
        }
        for reply: [UInt8] in [[], [0x79], [0x79, 2, 4, 10], [0x8F, 4, 0, 0, 0, 1], [0x79, 3, 4]] {
            let error = await #expect(throws: SecretsError.self) {
                _ = try await Bench.open(ScriptedLink { _ in reply + [0x90, 0] })
            }
            guard case .card(.malformed(_, "SELECT")) = error else {
                Issue.record("\(reply): \(String(describing: error))")
                return
            }
        }
    }

    @Test("older versions have no properties, passwords and changes, and do not overwrite")
    func versions() async throws {
        let log = ScriptedLink.Log()
        let old = try await Self.open(0x9000, [0x72, 2, 0x21, 0x78], version: [4, 10, 0], log: log)
        let entry = try #require(try await old.entries().first)
        #expect(entry.name == name("x") && entry.needsTouch == nil && entry.isProtected == nil)
        expect(entry.hasPassword, is: nil)
        await #expect(throws: SecretsError.entryExists(name("x"))) { try await old.add(Self.entry) }
        await #expect(throws: SecretsError.unsupported(.passwords, has: FirmwareVersion(4, 10, 0))) {
            _ = try await old.content(of: name("x"))
        }
        await #expect(throws: SecretsError.unsupported(.passwords, has: FirmwareVersion(4, 10, 0))) {
            try await old.add(NewSecretsEntry(name("y")))
        }
        await #expect(throws: SecretsError.unsupported(.update, has: FirmwareVersion(4, 10, 0))) {
            try await old.update(name("x"), SecretsChange())
        }
        expect(SecretsFeature.allCases.map(\.firstVersion.minor), is: [10, 11, 13])
    }

    @Test("what the key could not store is refused before anything is sent")
    func limits() async throws {
        let long = String(repeating: "x", count: 128)
        #expect(throws: SecretsError.badName(bytes: 0)) { _ = try SecretsName("") }
        #expect(throws: SecretsError.badName(bytes: 128)) { _ = try SecretsName(long) }
        let service = try await Self.open(0x6F00)
        let before = await service.statistics.exchanges
        let cases: [(NewSecretsEntry, SecretsError)] = [
            (NewSecretsEntry(name("x"), otp: SecretsOTP(.totp, secret: secret(""))), .badSecret(bytes: 0)),
            (NewSecretsEntry(name("x"), otp: SecretsOTP(.totp, secret: secret(long))), .badSecret(bytes: 128)),
            (NewSecretsEntry(name("x"), otp: SecretsOTP(.hmac, secret: secret("short"))), .badSecret(bytes: 5)),
            (
                NewSecretsEntry(name("x"), otp: SecretsOTP(.hmac, secret: vectorSecret, algorithm: .sha256)),
                .badAlgorithm
            ),
            (
                NewSecretsEntry(
                    name("x"), otp: SecretsOTP(.totp, secret: vectorSecret, algorithm: .init(rawValue: 3))),
                .badAlgorithm
            ),
            (NewSecretsEntry(name("x"), otp: SecretsOTP(.totp, secret: vectorSecret, digits: 9)), .badCode),
            (NewSecretsEntry(name("x"), record: SecretsRecord(login: long)), .fieldTooLong(bytes: 128)),
            (NewSecretsEntry(name("x"), record: SecretsRecord(password: secret(long))), .fieldTooLong(bytes: 128)),
        ]
        for (entry, error) in cases { await #expect(throws: error) { try await service.add(entry) } }
        await #expect(throws: SecretsError.fieldTooLong(bytes: 128)) {
            try await service.update(name("x"), SecretsChange(record: SecretsRecord(metadata: secret(long))))
        }
        for pin in ["", long] {
            await #expect(throws: SecretsError.badPIN(bytes: pin.utf8.count)) {
                try await service.verify(pin: secret(pin))
            }
            await #expect(throws: SecretsError.badPIN(bytes: pin.utf8.count)) { try await service.setPIN(secret(pin)) }
        }
        await expect(service.statistics.exchanges, is: before)
    }

    @Test("a tunnel reports what happened to the HID interface")
    func tunnel() throws {
        let cases: [(FIDOLinkError?, [UInt8], LinkError?)] = [
            (nil, [], .malformed(WireError(.truncated, at: 0, "an answer of 0 bytes has no status word"))),
            (.device(.removed), [], .removed), (.notTouched, [], .timedOut("a touch")),
            (.card(.link(.busy(reader: "r", holders: []))), [], .busy(reader: "r", holders: [])),
            (.malformed(WireError(.truncated, at: 1, "x")), [], .malformed(WireError(.truncated, at: 1, "x"))),
            (.refused(.channelBusy), [], .failed(code: 6, "CTAPHID error \(CTAPHID.ErrorCode.channelBusy)")),
            (nil, [0x90, 0x00, 7], nil),
        ]
        for (error, answer, expected) in cases {
            let tunnel = SecretsTunnel(ScriptedTunnel(error, answer))
            if let expected {
                #expect(throws: expected) { _ = try tunnel.exchange([0, 0xC0, 0, 0], deadline: .after(.seconds(1))) }
            } else {
                try expect(tunnel.exchange([0, 0xC0, 0, 0], deadline: .after(.seconds(1))), is: [7, 0x90, 0x00])
            }
            #expect(try !tunnel.begin(deadline: .after(.seconds(1))) && tunnel.identity.atr.isEmpty)
            tunnel.end()
            try tunnel.reset(.cold, deadline: .after(.seconds(1)))
            tunnel.close()
        }
    }
}

/// A HID interface that answers every message in the same way.
private final class ScriptedTunnel: FIDOLink {
    let environment = ServiceEnvironment.instant
    let profile = FIDOLinkProfile(carrier: .hid, hasCTAP2: true, hasU2F: true)
    let generation = 0
    private let error: FIDOLinkError?
    private let answer: [UInt8]

    init(_ error: FIDOLinkError?, _ answer: [UInt8]) { (self.error, self.answer) = (error, answer) }

    func call(
        _ command: CTAPHID.Command, _ payload: [UInt8], deadline: Deadline, keepalive: (FIDOKeepalive) -> Void
    ) throws(FIDOLinkError) -> [UInt8] {
        guard command.rawValue == 0x70, payload[1] == 0xA5 else { throw .refused(.invalidCommand) }
        if let error { throw error }
        return answer
    }

    func rest() {}
    func close() {}
}
