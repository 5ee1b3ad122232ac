// SPDX-License-Identifier: Apache-2.0

import Testing
import YKCrypto
import YKInteraction
import YKPIV
import YKProtocols
import YKTestSupport
import YKTransport
import YKUse
import YKVirtualKey

/// Unlocking the PIV application of a virtual key, with a person who answers from a script.
struct PIVUnlockingTests {
    private func unlocking(
        _ bench: Bench, _ person: ScriptedPerson, _ broker: CredentialBroker? = nil
    ) async throws -> PIVUnlocking {
        PIVUnlocking(
            try await bench.piv(), broker ?? CredentialBroker([], person: person), person, key: "4711")
    }

    @Test func asksForThePINOnceAndSaysWhatItIsFor() async throws {
        let (bench, person) = (try Bench(), ScriptedPerson("123456"))
        try await bench.makeKey(.authentication)
        let unlocking = try await unlocking(bench, person)
        for _ in 1...2 {
            let use = try await unlocking.prepare(.authentication, nil, .sign, for: "sign")
            let service = unlocking.service
            _ = try await use.touching(person) {
                try await service.sign(.message([1]), use.slot, hash: .sha256, algorithm: use.algorithm, key: use.key)
            }
        }
        expect(person.requests.map(\.purpose), is: ["sign"])
        #expect(person.requests.first?.triesLeft == 3 && person.requests.first?.isFactoryDefault == true)
        expect(person.requests.first?.id, is: CredentialID(.pivPIN, key: "4711"))
        #expect(unlocking.isVerified && person.touches.isEmpty)
    }

    @Test func aSecondSessionUsesWhatTheFirstWasGiven() async throws {
        let (bench, person) = (try Bench(), ScriptedPerson("123456"))
        try await bench.makeKey(.signature, pin: .always)
        let broker = CredentialBroker([], person: person)
        for _ in 1...2 {
            let unlocking = try await unlocking(bench, person, broker)
            _ = try await unlocking.prepare(.signature, nil, .sign, for: "sign")
            await unlocking.service.close()
        }
        expect(person.requests.count, is: 1)
    }

    @Test func aWrongPINIsNotSentTwice() async throws {
        let (bench, person) = (try Bench(), ScriptedPerson("000000", "000000", "123456"))
        try await bench.makeKey(.authentication)
        let unlocking = try await unlocking(bench, person)
        await #expect(throws: PIVError.wrong(.pin, triesLeft: 2)) { try await unlocking.verify(for: "sign") }
        await #expect(throws: CredentialError.refusedBefore(CredentialID(.pivPIN, key: "4711"))) {
            try await unlocking.verify(for: "sign")
        }
        try await expect(unlocking.service.tries(of: .pin)?.triesLeft, is: 2)
        try await unlocking.verify(for: "sign")
        expect(person.requests.map(\.triesLeft), is: [3, 2, 2])
    }

    @Test func nobodyIsAskedForABlockedPIN() async throws {
        let (bench, person) = (try Bench(), ScriptedPerson("123456"))
        let unlocking = try await unlocking(bench, person)
        try await unlocking.service.blockPIN()
        await #expect(throws: CredentialError.blocked(CredentialID(.pivPIN, key: "4711"))) {
            try await unlocking.verify(for: "sign")
        }
        #expect(person.requests.isEmpty)
    }

    @Test func anAgentAsksForEachUseOfAKeyThatAlwaysNeedsThePIN() async throws {
        let (bench, person) = (try Bench(), ScriptedPerson("123456", "123456", "123456"))
        try await bench.makeKey(.signature, pin: .always)
        try await bench.makeKey(.authentication)
        let unlocking = try await unlocking(bench, person)
        unlocking.isForAgent = true
        for _ in 1...2 { _ = try await unlocking.prepare(.signature, nil, .sign, for: "sign") }
        #expect(person.requests.count == 2 && !unlocking.isVerified)
        for _ in 1...2 { _ = try await unlocking.prepare(.authentication, nil, .sign, for: "log in") }
        expect(person.requests.count, is: 3)
    }

    @Test func anInputThatDoesNotFitCostsNoPIN() async throws {
        let (bench, person) = (try Bench(), ScriptedPerson("123456"))
        try await bench.makeKey(.authentication)
        let unlocking = try await unlocking(bench, person)
        await #expect(throws: Unfit.self) {
            _ = try await unlocking.prepare(.authentication, nil, .sign, for: "sign") { _ in throw Unfit() }
        }
        #expect(person.requests.isEmpty)
        await #expect(throws: PIVError.unfit(.p256, for: .decrypt)) {
            _ = try await unlocking.prepare(.authentication, nil, .decrypt, for: "decrypt")
        }
    }

    @Test func aTouchIsAnnounced() async throws {
        let (bench, person) = (try Bench(), ScriptedPerson("123456"))
        try await bench.makeKey(.authentication, touch: .always)
        let unlocking = try await unlocking(bench, person)
        let use = try await unlocking.prepare(.authentication, nil, .sign, for: "sign")
        try await use.touching(person) {}
        expect(person.touches, is: [.required])
        let timeout = PIVError.card(.link(.timedOut("waiting for the card")))
        await #expect(throws: TouchMissed.self) { try await use.touching(person) { throw timeout } }
        await #expect(throws: PIVError.noKey(.signature)) {
            try await use.touching(person) { throw PIVError.noKey(.signature) }
        }
    }

    @Test func aKeyThatReportsNoPoliciesIsKnownByItsAttestation() async throws {
        let (bench, person) = (try Bench(FirmwareVersion(4, 3, 5)), ScriptedPerson("123456"))
        for slot in [PIVSlot.authentication, .cardAuthentication] { try await bench.makeKey(slot) }
        let unlocking = try await unlocking(bench, person)
        let open = try await unlocking.prepare(.cardAuthentication, nil, .sign, for: "open the door")
        #expect(open.algorithm == .p256 && open.touch == nil && person.requests.isEmpty)
        let use = try await unlocking.prepare(.authentication, nil, .sign, for: "sign")
        #expect(use.algorithm == .p256 && use.key != nil && person.requests.map(\.purpose) == ["sign"])
        try await use.touching(person) {}
        expect(person.touches, is: [.possible], "the card does not say whether it waits for a touch")
        let given = try await unlocking.prepare(.keyManagement, .rsa2048, .decrypt, for: "decrypt")
        #expect(given.algorithm == .rsa2048 && given.key == nil)
    }

    @Test func aSlotWithoutKeyIsNamedBeforeThePINIsAskedFor() async throws {
        let (bench, person) = (try Bench(), ScriptedPerson("123456"))
        let unlocking = try await unlocking(bench, person)
        await #expect(throws: PIVError.noKey(.keyManagement)) {
            _ = try await unlocking.prepare(.keyManagement, nil, .decrypt, for: "decrypt")
        }
        #expect(person.requests.isEmpty)
    }

    @Test func aPINThatIsVerifiedAlreadyIsNotAskedForIfItIsShared() async throws {
        let (bench, person) = (try Bench(), ScriptedPerson("123456"))
        try await bench.makeKey(.authentication)
        let service = try await bench.piv()
        for _ in 1...2 {
            let unlocking = PIVUnlocking(service, CredentialBroker([], person: person), person)
            unlocking.sharesPIN = true
            _ = try await unlocking.prepare(.authentication, nil, .sign, for: "sign")
            #expect(unlocking.isVerified)
        }
        expect(person.requests.count, is: 1)
    }

    @Test func aSharedPINIsAskedForAsTheCertificateSays() async throws {
        let (bench, person) = (try Bench(FirmwareVersion(4, 3, 5)), ScriptedPerson("123456"))
        try await bench.makeKey(.authentication)
        let unlocking = try await unlocking(bench, person)
        unlocking.sharesPIN = true
        _ = try await unlocking.prepare(.authentication, nil, .sign, for: "sign")
        #expect(unlocking.isVerified && person.requests.count == 1, "there is no certificate")
    }

    @Test func aFingerIsEnough() async throws {
        let (bench, person) = (try Bench(finger: .verified), ScriptedPerson())
        try await bench.makeKey(.authentication, pin: .matchOnce)
        let unlocking = try await unlocking(bench, person)
        for _ in 1...2 {
            let use = try await unlocking.prepare(.authentication, nil, .sign, for: "sign")
            let service = unlocking.service
            _ = try await use.touching(person) {
                try await service.sign(.message([1]), use.slot, hash: .sha256, algorithm: use.algorithm, key: use.key)
            }
        }
        #expect(unlocking.isVerified && person.requests.isEmpty)
        expect(person.news.filter { $0 == "fingerExpected" }.count, is: 1)
    }

    @Test func aFingerThatIsNotRecognizedIsReplacedByThePIN() async throws {
        let (bench, person) = (try Bench(finger: .wrong), ScriptedPerson("123456"))
        try await bench.makeKey(.authentication, pin: .matchAlways)
        let unlocking = try await unlocking(bench, person)
        _ = try await unlocking.prepare(.authentication, nil, .sign, for: "sign")
        expect(person.news.suffix(2), is: ["fingerExpected", "fingerNotRecognized"])
        #expect(unlocking.isVerified && person.requests.map(\.purpose) == ["sign"])
    }

    @Test func noFingerIsWaitedForInARehearsal() async throws {
        let (bench, person) = (try Bench(finger: .notTouched), ScriptedPerson())
        try await bench.makeKey(.authentication, pin: .matchOnce)
        let unlocking = try await unlocking(bench, person)
        await #expect(throws: PIVError.self) {
            _ = try await unlocking.prepare(.authentication, nil, .sign, for: "sign")
        }
        #expect(!unlocking.isVerified && person.requests.isEmpty)
        unlocking.isRehearsal = true
        _ = try await unlocking.prepare(.authentication, nil, .sign, for: "sign")
        expect(person.news.filter { $0 == "fingerExpected" }.count, is: 1)
    }

    // MARK: The management key

    @Test func theDefaultManagementKeyIsUsedAndReported() async throws {
        let (bench, person) = (try Bench(), ScriptedPerson())
        let unlocking = try await unlocking(bench, person)
        try await unlocking.manage(for: "make a key")
        #expect(person.news.contains("defaultManagementKey"))
        unlocking.refusesDefaultManagementKey = true
        await #expect(throws: PIVUnlockingError.defaultManagementKey) { try await unlocking.manage(for: "make a key") }
    }

    @Test func aDefaultManagementKeyThatIsReplacedIsNeitherReportedNorRefused() async throws {
        let (bench, person) = (try Bench(), ScriptedPerson())
        let unlocking = try await unlocking(bench, person)
        unlocking.refusesDefaultManagementKey = true
        unlocking.replacesManagementKey = true
        try await unlocking.manage(for: "set another one")
        #expect(!person.news.contains("defaultManagementKey"))
    }

    @Test func aManagementKeyIsAskedForWithItsForm() async throws {
        let (bench, person) = (try Bench(), ScriptedPerson("nothing", String(repeating: "0a", count: 24)))
        let service = try await bench.piv()
        try await service.authenticate(with: .defaultKey())
        try await service.setManagementKey(
            ManagementKey(Secret([UInt8](repeating: 10, count: 24))), type: .aes192)
        await service.close()
        let unlocking = try await unlocking(bench, person)
        await #expect(throws: PIVUnlockingError.malformedManagementKey) {
            try await unlocking.manage(for: "make a key")
        }
        try await unlocking.manage(for: "make a key")
        expect(person.requests.last?.form?.hasSuffix("48 digits"), is: true)
        unlocking.isRehearsal = true
        try await unlocking.manage(for: "make a key")
    }

    @Test func theProtectedManagementKeyComesWithThePINOfTheBroker() async throws {
        let (bench, person) = (try Bench(), ScriptedPerson("123456"))
        let service = try await bench.piv()
        try await service.authenticate(with: .defaultKey())
        try await service.verify(.defaultPIN())
        try await service.setManagementKey(
            ManagementKey(Secret([UInt8](repeating: 10, count: 24))), type: .aes192, protected: true)
        await service.close()
        let broker = CredentialBroker([], person: person)
        let unlocking = try await unlocking(bench, person, broker)
        try await unlocking.manage(for: "make a key")
        expect(person.requests.map(\.purpose), is: ["use its management key and make a key"])
        #expect(broker.isHeld(CredentialRequest(CredentialID(.pivPIN, key: "4711"), to: "")))
        await unlocking.service.close()
        let rehearsal = try await self.unlocking(bench, person)
        rehearsal.isRehearsal = true
        await #expect(throws: PIVUnlockingError.rehearsalEnds) { try await rehearsal.manage(for: "make a key") }
    }

    // MARK: Overwriting

    @Test func overwritingIsConfirmed() async throws {
        let (bench, person) = (try Bench(), ScriptedPerson())
        let service = try await bench.piv()
        let overwriting = PIVOverwriting(service, person)
        #expect(try await !overwriting.confirmKey(in: .authentication))
        try await overwriting.confirmCertificate(in: .authentication)
        #expect(person.questions.isEmpty)
        try await service.authenticate(with: .defaultKey())
        _ = try await service.generateKey(.authentication, .p256)
        #expect(try await overwriting.confirmKey(in: .authentication))
        expect(person.questions.count, is: 1)
        await #expect(throws: Unanswered.self) {
            try await PIVOverwriting(service, ScriptedPerson(agrees: false)).confirmKey(in: .authentication)
        }
        try await overwriting.confirmObject(.capability)
        try await service.putObject(.capability, [])
        try await overwriting.confirmObject(.capability)
        expect(person.questions.count, is: 1, "neither object has content")
        let certificate = try #require(PIVSlot.authentication.certificateObject)
        for id in [.capability, .printed, certificate] { try await service.putObject(id, [0x30, 0x00]) }
        try await overwriting.confirmObject(.capability)
        try await overwriting.confirmObject(.printed)
        try await overwriting.confirmCertificate(in: .authentication)
        expect(
            person.questions.dropFirst(),
            is: [
                "\(PIVOverwriting.Question.object(.capability))", "\(PIVOverwriting.Question.object(.printed))",
                "\(PIVOverwriting.Question.certificate(subject: nil, .authentication))",
            ])
    }

    @Test func aKeyThatTheCardDoesNotReportIsFoundByItsAttestation() async throws {
        let (bench, person) = (try Bench(FirmwareVersion(4, 3, 5)), ScriptedPerson())
        try await bench.makeKey(.authentication)
        let overwriting = PIVOverwriting(try await bench.piv(), person)
        #expect(try await overwriting.confirmKey(in: .authentication))
        expect(person.questions, is: ["\(PIVOverwriting.Question.key(.p256, .authentication))"])
    }
}

/// An input that a key cannot use.
private struct Unfit: Error {}
