// SPDX-License-Identifier: Apache-2.0

import Testing
import YKCrypto
import YKInteraction
import YKProtocols
import YKTestSupport
import YKUse

@testable import YKFIDO

/// The PIN of FIDO ceremonies on a virtual key, from a broker.
struct FIDOCredentialTests {
    private static let id = CredentialID(.fidoPIN, key: "4711")

    private func credential(_ broker: CredentialBroker, _ person: ScriptedPerson) -> FIDOCredential {
        FIDOCredential(broker, Self.id, to: "list credentials", person)
    }

    @Test func thePINIsAskedForOnceAndHeldOnceAccepted() async throws {
        let (bench, person) = (try Bench(), ScriptedPerson("12345"))
        try await bench.fido().setPIN(SharedSecret(Secret(utf8: "12345")))
        let broker = CredentialBroker([], person: person)
        for _ in 1...2 {
            let service = try await bench.fido(credential(broker, person).interaction)
            _ = try await service.relyingParties()
            await service.close()
        }
        expect(person.requests.count, is: 1)
        #expect(person.requests.first?.triesLeft == 8 && person.requests.first?.purpose == "list credentials")
    }

    @Test func aRefusedPINIsNotSentAgain() async throws {
        let (bench, person) = (try Bench(), ScriptedPerson("00000", "00000"))
        try await bench.fido().setPIN(SharedSecret(Secret(utf8: "12345")))
        let broker = CredentialBroker([], person: person)
        let first = credential(broker, person)
        await #expect(throws: FIDOError.self) { _ = try await bench.fido(first.interaction).relyingParties() }
        #expect(first.problem == nil)
        let second = credential(broker, person)
        await #expect(throws: FIDOError.pinNeeded) { _ = try await bench.fido(second.interaction).relyingParties() }
        expect(second.problem as? CredentialError, is: .refusedBefore(Self.id))
        try await expect(bench.fido().pinRetries().count, is: 7)
    }

    @Test func aNoEndsTheCeremony() async throws {
        let (bench, person) = (try Bench(), ScriptedPerson())
        try await bench.fido().setPIN(SharedSecret(Secret(utf8: "12345")))
        let credential = credential(CredentialBroker([], person: person), person)
        await #expect(throws: FIDOError.pinNeeded) { _ = try await bench.fido(credential.interaction).relyingParties() }
        expect(credential.problem as? CredentialError, is: .declined(Self.id))
    }

    @Test func theFallbackIsReported() async throws {
        let person = ScriptedPerson("12345")
        let credential = credential(CredentialBroker([], person: person), person)
        let request = PINRequest(permissions: .makeCredential, rpID: nil, retries: nil, fallback: .blocked)
        #expect(await credential.pin(request) != nil)
        expect(person.news.count, is: 1)
    }
}
