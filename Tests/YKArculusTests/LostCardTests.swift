// SPDX-License-Identifier: Apache-2.0

import Testing
import YKArculus
import YKFIDO
import YKTestSupport
import YKTransport
import YKVirtualKey
import YKWire

/// The card is pulled at every exchange.
struct LostCardTests {
    private static let models = [DeviceModel.arculus, .arculusP71]
    private static let most = 30

    private func register(_ field: Field, _ pin: ArculusPIN) async throws -> RegistrationResponse {
        try await field.card.registerCardOnly(
            pin: pin, username: "alice", displayName: "Alice", rpID: "localhost", challenge: challenge,
            origin: try origin())
    }

    @Test(arguments: models) func registrationIsDoneOnceMore(_ model: DeviceModel) async throws {
        var last = 0
        for number in 1...Self.most {
            let field = try await Field(model, faults: "at \(number): remove")
            let pin = PIN()
            let made = try await register(field, pin.arculus)
            try await expect(field.retries(), is: 8)
            expect(pin.questions.count, is: 1, "asked once, sent again only when that cost nothing")
            guard field.connections == 2 else {
                last = number
                break
            }
            expect(field.offers, is: 1)
            #expect(field.prompts.contains(.holdAgain))
            expect(made.id.isEmpty, is: false)
        }
        #expect(last > 4, "the session has several exchanges")
    }

    @Test(arguments: models) func authenticationIsDoneOnceMore(_ model: DeviceModel) async throws {
        let field = try await Field(model)
        let made = try await register(field, PIN().arculus)
        let options = PublicKeyCredentialRequestOptions(
            challenge: challenge, allowCredentials: [PublicKeyCredentialDescriptor(id: made.id)])
        var isWhole = false
        for number in 1...Self.most where !isWhole {
            let before = field.connections
            field.faults = Array(repeating: "", count: before) + ["at \(number): remove"]
            let signed = try await field.card.authenticate(
                options, username: nil, origin: try origin(), pin: PIN().arculus)
            expect(signed.id, is: made.id)
            isWhole = field.connections == before + 1
        }
        #expect(isWhole)
        try await expect(field.retries(), is: 8)
    }

    @Test(arguments: models) func aWrongPINIsNeverSentTwice(_ model: DeviceModel) async throws {
        for number in 1...Self.most {
            let field = try await Field(model, faults: "at \(number): remove")
            await fails(.pinFailed) { try await register(field, PIN("000000").arculus) }
            try await expect(field.retries(), is: 7)
        }
    }

    @Test(arguments: models) func aPINInDoubtIsNotSentAgain(_ model: DeviceModel) async throws {
        // The card counted the try and was gone before it could say that the PIN is wrong.
        let field = try await Field(model)
        let other = try await Field(model)
        _ = try? await other.service().verifyPIN(secret("000000"))
        field.faults = ["on 801080 at 4: remove"]
        field.others = [1: other.key]
        let pin = PIN("000000")
        await #expect(throws: ArculusError.pinInDoubt(PINRetries(count: 7))) { try await register(field, pin.arculus) }
        expect(pin.questions, is: [8])
        try await expect(other.retries(), is: 7)
    }

    @Test func onlyOnce() async throws {
        let field = try await Field(faults: "at 3: remove", "at 2: remove")
        await fails(.tagLost) { try await register(field, PIN().arculus) }
        #expect(field.connections == 2 && field.offers == 1)
        let unwilling = try await Field(faults: "at 3: remove")
        unwilling.accepts = false
        await fails(.tagLost) { try await register(unwilling, PIN().arculus) }
        expect(unwilling.connections, is: 1)
    }

    @Test func anotherCardIsRefused() async throws {
        let field = try await Field(faults: "at 4: remove")
        field.others = [1: try VirtualKey.new(.arculusP71, serial: 2)]
        await #expect(throws: ArculusError.otherCard) { try await register(field, PIN().arculus) }
    }

    @Test(arguments: models) func resetEndsWithTheNewPIN(_ model: DeviceModel) async throws {
        var isWhole = false
        for number in 1...Self.most where !isWhole {
            let field = try await Field(model, faults: "at \(number): remove")
            try await field.card.reset(to: secret("654321"))
            try await field.service().verifyPIN(secret("654321"))
            try await expect(field.retries(), is: 8)
            isWhole = field.connections == 1
        }
        #expect(isWhole)
    }

    @Test func resetWhoseLastAnswerIsLost() async throws {
        // The PIN was set, and nobody heard of it.
        let field = try await Field(pin: nil)
        let other = try await Field(pin: "654321")
        field.faults = ["on 801080 at 4: remove"]
        field.others = [1: other.key]
        try await field.card.reset(to: secret("654321"))
        expect(field.connections, is: 2)
        // A card that has another PIN is another card.
        let stranger = try await Field(pin: "111111")
        let field2 = try await Field(pin: nil, faults: "on 801080 at 4: remove")
        field2.others = [1: stranger.key]
        await fails(.pinFailed) { try await field2.card.reset(to: secret("654321")) }
    }

    @Test(arguments: models) func aChangeInDoubtIsSaid(_ model: DeviceModel) async throws {
        var seen: Set<String> = []
        for number in 1...Self.most where !seen.contains("whole") {
            let field = try await Field(model, faults: "at \(number): remove")
            do {
                try await field.card.changePIN(from: { _ in secret("123456") }, to: secret("654321"))
                seen.insert(field.connections == 1 ? "whole" : "again")
                try await field.service().verifyPIN(secret("654321"))
            } catch let error as ArculusError {
                expect(error, is: .changeInDoubt)
                expect(error.code, is: .tagLost)
                seen.insert("doubt")
                try await field.service().verifyPIN(secret("123456"))
            }
            try await expect(field.retries(), is: 8)
        }
        expect(seen, is: ["whole", "again", "doubt"])
    }
}
