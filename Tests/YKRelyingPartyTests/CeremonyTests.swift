// SPDX-License-Identifier: Apache-2.0

import Testing
import YKCrypto
import YKFIDO
import YKRelyingParty
import YKTestSupport
import YKTransport
import YKWire

/// How ceremonies are kept: for one session, one use and a while.
struct CeremonyTests {
    enum Kind: CaseIterable, Sendable {
        case memory, sealed
    }

    private func server(_ kind: Kind) throws -> Server {
        guard kind == .sealed else { return try Server() }
        let key = SharedSecret(Secret([UInt8](repeating: 5, count: 32)))
        return try Server(store: SealedCeremonies(key: key, spent: MemoryCeremonies(limit: 2)))
    }

    @Test(arguments: Kind.allCases)
    func areUsedOnce(_ kind: Kind) async throws {
        let server = try server(kind)
        let authenticator = try Authenticator()
        let begun = try await server.party.beginRegistration(of: Server.alice, session: "s")
        let answer = Array(try authenticator.create(begun.options).json.text.utf8)
        _ = try await server.party.finishRegistration(answer, token: begun.token, session: "s") { _ in false }
        await refused(.unknownCeremony) {
            try await server.party.finishRegistration(answer, token: begun.token, session: "s") { _ in false }
        }
        // A refusal uses a ceremony up too.
        let second = try await server.party.beginRegistration(of: Server.alice, session: "s")
        await refused(.challenge) {
            try await server.party.finishRegistration(answer, token: second.token, session: "s") { _ in false }
        }
        let right = Array(try authenticator.create(second.options).json.text.utf8)
        await refused(.unknownCeremony) {
            try await server.party.finishRegistration(right, token: second.token, session: "s") { _ in false }
        }
    }

    @Test(arguments: Kind.allCases)
    func areOfOneSessionAndKind(_ kind: Kind) async throws {
        let server = try server(kind)
        let begun = try await server.party.beginRegistration(of: Server.alice, session: "s")
        await refused(.unknownCeremony) {
            try await server.party.finishRegistration([], token: begun.token, session: "other") { _ in false }
        }
        let second = try await server.party.beginRegistration(of: Server.alice, session: "s")
        await refused(.unknownCeremony) {
            try await server.party.finishAuthentication([], token: second.token, session: "s") { _ in nil }
        }
        for token in ["", "AAAA", "!", String(second.token.dropLast(4))] {
            await refused(.unknownCeremony) {
                try await server.party.finishRegistration([], token: token, session: "s") { _ in false }
            }
        }
    }

    @Test(arguments: Kind.allCases)
    func expire(_ kind: Kind) async throws {
        let server = try server(kind)
        let begun = try await server.party.beginRegistration(of: Server.alice, session: "s")
        server.clock.advance(300)
        await refused(.expired) {
            try await server.party.finishRegistration([], token: begun.token, session: "s") { _ in false }
        }
        let second = try await server.party.beginRegistration(of: Server.alice, session: "s")
        server.clock.advance(299)
        do {
            _ = try await server.party.finishRegistration([], token: second.token, session: "s") { _ in false }
            Issue.record("accepted")
        } catch .malformed(.json) {}
    }

    @Test func areLimitedInNumber() async throws {
        let server = try Server()
        for _ in 0..<3 { _ = try await server.party.beginAuthentication(session: "s") }
        await refused(.tooManyCeremonies) { try await server.party.beginAuthentication(session: "s") }
        server.clock.advance(301)
        _ = try await server.party.beginAuthentication(session: "s")
        let clock = Clock()
        let spent = MemoryCeremonies(limit: 1, environment: ServiceEnvironment(clock: clock))
        #expect(try await spent.spend([1], until: today + 10))
        #expect(try await !spent.spend([1], until: today + 10))
        await refused(.tooManyCeremonies) { try await spent.spend([2], until: today + 10) }
        clock.advance(10)
        #expect(try await spent.spend([2], until: today + 20))
    }

    @Test func areSealed() async throws {
        let server = try server(.sealed)
        let begun = try await server.party.beginAuthentication(session: "s")
        var bytes = try Base64.decode(begun.token)
        let text = String(decoding: bytes, as: UTF8.self)
        #expect(!text.contains("challenge"))
        bytes[20] ^= 1
        let changed = Base64.encodeURL(bytes)
        await refused(.unknownCeremony) {
            try await server.party.finishAuthentication([], token: changed, session: "s") { _ in nil }
        }
    }

    @Test func needAKeyOfTheRightLength() async throws {
        let key = SharedSecret(Secret([UInt8](repeating: 5, count: 31)))
        let server = try Server(store: SealedCeremonies(key: key, spent: MemoryCeremonies()))
        await #expect(throws: CeremonyError.self) { try await server.party.beginAuthentication(session: "s") }
    }

    @Test func areReadAsTheyWereWritten() async throws {
        let server = try Server()
        var wanted = RegistrationRequirements()
        wanted.isConditional = true
        wanted.extensions.prf = PRFInput(first: [1])
        let begun = try await server.party.beginRegistration(of: Server.alice, session: "s", wanted)
        let ceremony = try #require(await server.memory.take(begun.token, session: "s"))
        #expect(ceremony.isConditional && ceremony.algorithms.count == 3 && ceremony.kind == .registration)
        try expect(Ceremony(json: JSONValue(parsing: ceremony.json.text)), is: ceremony)
        for (member, value) in [("kind", "x"), ("userVerification", "x"), ("challenge", 1)] as [(String, JSONValue)] {
            var object = try #require(ceremony.json.object)
            object[member] = value
            #expect(throws: WebAuthnError.self) { try Ceremony(json: .object(object)) }
        }
    }

    @Test func haveATimeout() async throws {
        for (timeout, milliseconds) in [(Duration.zero, 1000), (.seconds(60), 60_000), (.seconds(1 << 40), 86_400_000)]
            as [(Duration, UInt64)]
        {
            let server = try Server { $0.timeout = timeout }
            try await expect(
                server.party.beginAuthentication(session: "s").options.timeout, is: .milliseconds(milliseconds))
        }
    }

    @Test func errorsHaveWords() {
        let errors: [CeremonyError] = [
            .unknownCeremony, .expired, .malformed(.noneChosen), .type(.get), .challenge, .origin("o"), .crossOrigin,
            .topOrigin("o"), .otherRelyingParty, .noPresence, .noUserVerification, .backupEligible,
            .backupEligibilityChanged, .algorithm(nil), .attestation(.badKey("x")), .model(.notAccepted),
            .model(.status(.revoked)), .model(.unknown(aaguid: [1])), .alreadyRegistered, .extension("prf"),
            .credentialNotAllowed, .unknownCredential, .noUserHandle, .otherUser, .signature(.badSignature),
            .counter(stored: 2, received: 1), .tooManyCeremonies, .store("x"),
        ]
        expect(Set(errors.map(\.description)).count, is: errors.count)
    }

    @Test func refusesBrokenRecords() throws {
        let number = [UInt8](repeating: 1, count: 32)
        let key = COSEKey(ec2: .p256, algorithm: .es256, x: number, y: number)
        let good: JSONValue = [
            "id": "AQ", "user": "AQ", "publicKey": .string(Base64.encodeURL(key.encoded)), "signCount": 1,
            "uvInitialized": true, "backupEligible": false, "backupState": false, "aaguid": "AQ",
        ]
        #expect(try CredentialRecord(json: good).transports.isEmpty)
        for (member, value) in [("publicKey", "AQ"), ("signCount", -1), ("signCount", 0x1_0000_0000), ("id", nil)]
            as [(String, JSONValue)]
        {
            var object = try #require(good.object)
            object[member] = value
            #expect(throws: WebAuthnError.self) { try CredentialRecord(json: .object(object)) }
        }
    }
}
