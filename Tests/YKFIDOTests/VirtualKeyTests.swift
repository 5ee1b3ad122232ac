// SPDX-License-Identifier: Apache-2.0

import Synchronization
import Testing
import YKCrypto
import YKTestSupport
import YKTransport
import YKVirtualKey
import YKWire

@testable import YKFIDO

/// Registration, assertion and PIN on the virtual key, over the card.
struct VirtualKeyTests {
    @Test(arguments: [APDU.Form.short, .extended])
    func registersAndAsserts(_ form: APDU.Form) async throws {
        let service = try await Bench().open(form: form)
        let made = try await service.register(registration())
        let object = made.response.attestationObject
        let trust = try AttestationVerification(rpID: "example.com").check(object, clientDataHash: hash)
        guard case .certificates(let chain) = trust else {
            Issue.record("\(trust)")
            return
        }
        expect(chain.count, is: 1)
        let credential = try #require(object.authenticatorData.credential)
        let request = AssertionRequest(
            rpID: "example.com", clientDataHash: hash, allowList: [CredentialDescriptor(id: credential.id)])
        let assertion = try #require(try await service.assert(request).first)
        let check = AssertionVerification(rpID: "example.com", publicKey: credential.publicKey)
        try check.check(
            assertion.response.authenticatorData, signature: assertion.response.signature, clientDataHash: hash)
        #expect(throws: VerificationProblem.badSignature) {
            try check.check(
                assertion.response.authenticatorData, signature: assertion.response.signature,
                clientDataHash: [UInt8](repeating: 0, count: 32))
        }
    }

    @Test func signsWithEdDSA() async throws {
        let service = try await Bench().open()
        var request = registration()
        request.algorithms = [.edDSA]
        request.attestationFormats = [.none]
        let made = try await service.register(request)
        expect(made.response.format, is: .none)
        let credential = try #require(made.response.authenticatorData.credential)
        let assertion = try #require(
            try await service.assert(
                AssertionRequest(
                    rpID: "example.com", clientDataHash: hash, allowList: [CredentialDescriptor(id: credential.id)])
            ).first)
        try AssertionVerification(rpID: "example.com", publicKey: credential.publicKey).check(
            assertion.response.authenticatorData, signature: assertion.response.signature, clientDataHash: hash)
    }

    @Test func asksForThePINAndTellsTheTries() async throws {
        let bench = try Bench(pin: "12345")
        let service = try await bench.open()
        try await service.setPIN(secret("12345"))
        var request = registration()
        request.isResident = true
        let made = try await service.register(request)
        #expect(made.response.authenticatorData.flags.contains(.userVerified))
        expect(
            bench.pins.requests,
            is: [
                PINRequest(
                    permissions: .makeCredential, rpID: "example.com", retries: PINRetries(count: 8), fallback: nil)
            ])
        let all = try await service.assert(AssertionRequest(rpID: "example.com", clientDataHash: hash))
        expect(all.map(\.response.user?.name), is: ["alice"])
    }

    @Test func doesNotAskForTheTriesWhenThePINIsAtHand() async throws {
        let bench = try Bench(pin: "12345")
        try await bench.open().setPIN(secret("12345"))
        var counts: [Int] = []
        for hasPIN in [false, true] {
            let pins = bench.pins
            var interaction = FIDOInteraction(pin: { pins.give($0) })
            interaction.hasPIN = hasPIN
            let channel = CardChannel(link: bench.key.link(), environment: .instant)
            let service = try await FIDOService.open(card: channel, interaction: interaction)
            _ = try await service.register(registration())
            counts.append(await service.statistics.exchanges)
        }
        expect(bench.pins.requests.map(\.retries), is: [PINRetries(count: 8), nil])
        expect(counts[0], is: counts[1] + 1)
    }

    @Test func wrongPINsAndThePowerCycle() async throws {
        let bench = try Bench()
        let service = try await bench.open()
        try await service.setPIN(secret("12345"))
        await #expect(throws: FIDOError.pinAlreadySet) { try await service.setPIN(secret("12345")) }
        for left in [7, 6] {
            await #expect(throws: FIDOError.wrongPIN(PINRetries(count: left))) {
                try await service.verifyPIN(secret("wrong"))
            }
        }
        await #expect(throws: FIDOError.pinNeedsPowerCycle) { try await service.verifyPIN(secret("wrong")) }
        await #expect(throws: FIDOError.pinNeedsPowerCycle) { try await service.verifyPIN(secret("12345")) }
        try await expect(service.pinRetries(), is: PINRetries(count: 5, needsPowerCycle: true))
        await service.rest()
        let link = bench.key.link()
        try link.reset(.cold, deadline: .after(.seconds(1)))
        link.close()
        try await service.verifyPIN(secret("12345"))
        try await expect(service.pinRetries(), is: PINRetries(count: 8))
        try await service.changePIN(from: secret("12345"), to: secret("pässword"))
        await #expect(throws: FIDOError.wrongPIN(PINRetries(count: 7))) {
            try await service.verifyPIN(secret("12345"))
        }
        try await service.verifyPIN(secret("pa\u{308}ssword"))
        try await service.reset()
        try await expect(service.info().hasPIN, is: false)
    }

    @Test func refusesUnsuitablePINsBeforeSending() async throws {
        let service = try await Bench().open()
        let before = await service.statistics.exchanges
        await #expect(throws: FIDOError.unsuitablePIN(.tooShort(codePoints: 3, minimum: 4))) {
            try await service.setPIN(secret("e\u{301}e\u{301}e\u{301}"))
        }
        await #expect(throws: FIDOError.unsuitablePIN(.tooLong(bytes: 64, maximum: 63))) {
            try await service.setPIN(secret(String(repeating: "a", count: 64)))
        }
        await #expect(throws: FIDOError.unsuitablePIN(.endsWithZero)) {
            try await service.setPIN(secret("12345\0"))
        }
        await expect(service.statistics.exchanges, is: before)
    }

    @Test func waitsForATouchWithKeepalives() async throws {
        let asked = Mutex(0)
        let inputs = VirtualInputs(touch: { _ in
            asked.withLock { $0 += 1 }
            return asked.withLock { $0 } < 4 ? .pending : .touched
        })
        let bench = try Bench(inputs: inputs)
        let prompts = Mutex(0)
        let service = try await FIDOService.open(
            card: CardChannel(link: bench.key.link(), environment: .instant),
            interaction: FIDOInteraction(touch: { prompts.withLock { $0 += 1 } }))
        let progress = service.progress
        _ = try await service.register(registration())
        await service.close()
        var heard: [FIDOKeepalive] = []
        for await status in progress { heard.append(status) }
        expect(heard, is: [.touchNeeded, .touchNeeded, .touchNeeded])
        expect(prompts.withLock { $0 }, is: 1, "one prompt for one wait")
    }

    @Test func callsOffAWaitForATouch() async throws {
        let bench = try Bench(inputs: VirtualInputs(touch: { _ in .pending }))
        let environment = ServiceEnvironment.instant
        let service = try await FIDOService.open(
            card: CardChannel(link: bench.key.link(), environment: environment),
            interaction: FIDOInteraction(touch: { environment.cancellation.cancel() }))
        await #expect(throws: FIDOError.ctap(.link(.card(.link(.cancelled))))) {
            try await service.register(registration())
        }
    }

    @Test func excludesWhatTheKeyHas() async throws {
        let service = try await Bench().open()
        let made = try await service.register(registration())
        let id = try #require(made.response.authenticatorData.credential?.id)
        let others = (0..<20).map { CredentialDescriptor(id: [UInt8](repeating: $0, count: 66)) }
        var request = registration()
        request.excludeList = others + [CredentialDescriptor(id: id)]
        let refused = request
        await #expect(throws: FIDOError.credentialExcluded) { try await service.register(refused) }
        request.excludeList = others
        let welcome = request
        _ = try await service.register(welcome)
        let found = try await service.assert(
            AssertionRequest(
                rpID: "example.com", clientDataHash: hash, allowList: others + [CredentialDescriptor(id: id)]))
        expect(found.first?.credential.id, is: id)
        await #expect(throws: FIDOError.noCredentials) {
            try await service.assert(
                AssertionRequest(rpID: "example.org", clientDataHash: hash, allowList: [CredentialDescriptor(id: id)]))
        }
    }
}
