// SPDX-License-Identifier: Apache-2.0

import Testing
import YKCrypto
import YKTestSupport
import YKTransport
import YKWire

@testable import YKHSMAuth

/// What keys refuse, what broken ones answer, and what is refused before it is sent.
struct FailureTests {
    /// A key of a firmware that answers every command but SELECT in the same way.
    private static func open(
        _ status: UInt16, _ data: [UInt8] = [], _ version: [UInt8] = [5, 8, 0],
        log: ScriptedLink.Log = ScriptedLink.Log()
    ) async throws -> HSMAuthService {
        try await Bench.open(
            ScriptedLink(log: log) { command in
                command[1] == 0xA4
                    ? [0x79, 3] + version + [0x90, 0]
                    : ResponseAPDU(StatusWord(status), data: data).encoded
            })
    }

    private static func label() throws -> HSMAuthLabel { try HSMAuthLabel("one") }
    private static let eight = [UInt8](repeating: 1, count: 8)
    private static let point = [0x04] + [UInt8](repeating: 1, count: 64)

    private static func add(_ service: HSMAuthService) async throws {
        try await service.add(
            label(), .generatedP256, password: Bench.password("pw"), managementKey: .defaultManagementKey())
    }

    private static func calculate(_ service: HSMAuthService) async throws {
        _ = try await service.sessionKeys(
            label(), hostChallenge: eight, hsmChallenge: eight, password: Bench.password("pw"))
    }

    private static func publicKey(_ service: HSMAuthService) async throws {
        _ = try await service.publicKey(of: label())
    }

    private static func challenge(_ service: HSMAuthService) async throws {
        _ = try await service.challenge(label(), password: Bench.password("pw"))
    }

    @Test("what a status word means depends on the command and the secret it gave")
    func statusWords() async throws {
        typealias Case = (UInt16, @Sendable (HSMAuthService) async throws -> Void, HSMAuthError)
        let label = try Self.label()
        let cases: [Case] = [
            (0x63C2, Self.add, .wrongManagementKey(triesLeft: 2)), (0x63C0, Self.add, .managementKeyBlocked),
            (0x6A84, Self.add, .full), (0x6983, Self.add, .credentialExists(label)),
            (0x6985, Self.add, .refusedByPolicy),
            (0x6F00, Self.add, .card(.status(.aborted, during: "PUT CREDENTIAL"))),
            (0x63C2, Self.calculate, .wrongPassword(label, triesLeft: 2)),
            (0x63C0, Self.calculate, .credentialLost(label)), (0x6A82, Self.calculate, .noSuchCredential(label)),
            (0x6982, Self.calculate, .touchTimeout), (0x6984, Self.calculate, .notAuthentic),
            (0x6985, Self.calculate, .noChallenge),
            (0x6982, Self.challenge, .touchTimeout), (0x63C5, Self.challenge, .wrongPassword(label, triesLeft: 5)),
            (0x6A80, Self.publicKey, .notAsymmetric(label)), (0x6A82, Self.publicKey, .noSuchCredential(label)),
            (0x6D00, Self.publicKey, .card(.status(.unknownInstruction, during: "GET PUBLIC KEY"))),
            (0x6985, { try await $0.reset() }, .card(.status(.conditionsNotSatisfied, during: "RESET"))),
            (0x63C1, { try await $0.reset() }, .card(.status(StatusWord(0x63C1), during: "RESET"))),
            (0x6982, { _ = try await $0.credentials() }, .card(.status(.securityStatusNotSatisfied, during: "LIST"))),
        ]
        for (status, operation, error) in cases {
            let service = try await Self.open(status)
            await #expect(throws: error) { try await operation(service) }
        }
    }

    @Test("replies of another length or form are malformed")
    func replies() async throws {
        func malformed(
            _ data: [UInt8], _ command: String, _ operation: (HSMAuthService) async throws -> Void
        ) async throws {
            let service = try await Self.open(0x9000, data)
            let error = await #expect(throws: HSMAuthError.self) { try await operation(service) }
            guard case .card(.malformed(_, command)) = error else {
                Issue.record("\(command) \(data.count): \(String(describing: error))")
                return
            }
        }
        for data in [[], [8, 0]] as [[UInt8]] {
            try await malformed(data, "GET MANAGEMENT KEY RETRIES") { _ = try await $0.managementKeyRetries() }
        }
        for count in [0, 47, 49, 64] {
            let data = [UInt8](repeating: 1, count: count)
            try await malformed(data, "CALCULATE SESSION KEYS", Self.calculate)
        }
        for data in [[], Array(Self.point.dropLast()), Self.point + [0], [0x03] + Self.point.dropFirst()] {
            try await malformed(data, "GET PUBLIC KEY", Self.publicKey)
            try await malformed(data, "GET CHALLENGE", Self.challenge)
        }
        for data: [UInt8] in [[0x72], [0x72, 0], [0x72, 1, 38], [0x72, 2, 38, 0], [0x73, 4, 38, 0, 0x61, 8]] {
            try await malformed(data, "LIST") { _ = try await $0.credentials() }
        }
    }

    @Test("entries of the list with values nobody knows are listed")
    func list() async throws {
        let service = try await Self.open(0x9000, [0x72, 5, 99, 7, 0xFF, 0x61, 3, 0x72, 3, 38, 1, 8])
        let list = try await service.credentials()
        expect(list.map(\.algorithm.description), is: ["algorithm 99", "aes128"])
        #expect(list.map(\.needsTouch) == [nil, true] && list.map(\.retries) == [3, 8])
        #expect(list.map(\.label.text) == ["\u{FFFD}a", ""] && list[0].label.bytes == [0xFF, 0x61])
        expect(HSMAuthAlgorithm.p256.description, is: "ecc-p256")
    }

    @Test("a key that does not say its version has no service")
    func versions() async throws {
        for version: [UInt8] in [[], [5], [5, 7]] {
            let error = await #expect(throws: HSMAuthError.self) {
                try await Bench.open(
                    ScriptedLink { _ in [0x79, UInt8(version.count)] + version + [0x90, 0] })
            }
            guard case .card(.malformed(_, "SELECT")) = error else {
                Issue.record("\(version): \(String(describing: error))")
                return
            }
        }
        let prerelease = try await Self.open(0x9000, [UInt8](repeating: 1, count: 8), [0, 0, 5])
        try await expect(prerelease.challenge(Self.label()).count, is: 8)
        await expect(prerelease.statistics.exchanges, is: 2)
    }

    @Test("up to firmware 5.7.0 a challenge is had without the password")
    func challengeForms() async throws {
        for (version, data) in [([5, 6, 0], "7103" + "6f6e65"), ([5, 7, 1], "71036f6e65" + "7310")] {
            let log = ScriptedLink.Log()
            let service = try await Self.open(0x9000, Self.eight, version.map { UInt8($0) }, log: log)
            _ = try await service.challenge(Self.label(), password: Bench.password("pw"))
            #expect(log.text.last?.dropFirst(10).hasPrefix(data) ?? false)
            expect(log.text.last?.contains("7077"), is: (version == [5, 7, 1]))
        }
    }

    @Test("what no key takes is not sent")
    func notSent() async throws {
        let log = ScriptedLink.Log()
        let service = try await Self.open(0x9000, log: log)
        let short = SharedSecret(Secret([UInt8](repeating: 1, count: 15)))
        func refuse(_ error: HSMAuthError, _ operation: () async throws -> Void) async {
            await #expect(throws: error) { try await operation() }
        }
        for (key, count) in [(HSMAuthKey.symmetric(encryption: short, mac: short), 15), (.p256(short), 15)] {
            await refuse(.badKeyLength(count)) {
                try await service.add(
                    Self.label(), key, password: Bench.password("pw"), managementKey: .defaultManagementKey())
            }
        }
        for (host, hsm, proof) in [(7, 8, 8), (8, 9, 8)] {
            await refuse(.badContext("a challenge has 8 bytes")) {
                _ = try await service.sessionKeys(
                    Self.label(), hostChallenge: [UInt8](repeating: 1, count: host),
                    hsmChallenge: [UInt8](repeating: 1, count: hsm), cryptogram: [UInt8](repeating: 1, count: proof),
                    password: Bench.password("pw"))
            }
        }
        await refuse(.badContext("a cryptogram has 8 bytes")) {
            _ = try await service.sessionKeys(
                Self.label(), hostChallenge: Self.eight, hsmChallenge: Self.eight, cryptogram: [1],
                password: Bench.password("pw"))
        }
        for (points, receipt, reason) in [
            ([Self.point, Self.point, Array(Self.point.dropLast())], 16, "a public key has 65 bytes, the first is 04"),
            (
                [[0x02] + Self.point.dropFirst(), Self.point, Self.point], 16,
                "a public key has 65 bytes, the first is 04"
            ),
            ([Self.point, [], Self.point], 16, "a public key has 65 bytes, the first is 04"),
            ([Self.point, Self.point, Self.point], 15, "a receipt has 16 bytes"),
        ] {
            await refuse(.badContext(reason)) {
                _ = try await service.sessionKeys(
                    Self.label(), hostPoint: points[0], hsmPoint: points[1], hsmKey: points[2],
                    receipt: [UInt8](repeating: 1, count: receipt), password: Bench.password("pw"))
            }
        }
        expect(log.commands.count, is: 1)
    }

    @Test("a password of 32 characters is sixteen bytes only where all are hexadecimal digits")
    func passwords() throws {
        for text in ["zz112233445566778899aabbccddeeff", "0011223344556677889900112233445g"] {
            #expect(throws: HSMAuthError.passwordTooLong(bytes: 32)) { _ = try Bench.password(text) }
        }
        let password = try Bench.password("a password")
        expect(password.copy().copyBytes(), is: password.copyBytes())
        #expect(HSMAuthPassword.defaultManagementKey().isDefault && !password.isDefault)
        guard case .symmetric(let encryption, let mac) = try HSMAuthKey.symmetric(Secret(Array(0..<32))) else { return }
        #expect(encryption.value.copyBytes() == Array(0..<16) && mac.value.copyBytes() == Array(16..<32))
    }
}
