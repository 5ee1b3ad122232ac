// SPDX-License-Identifier: Apache-2.0

import Testing
import YKArculus
import YKCrypto
import YKFIDO
import YKTestSupport
import YKTransport
import YKVirtualKey
import YKWire

/// What the card does without a server.
struct CardTests {
    private func register(
        _ field: Field, _ pin: ArculusPIN, resident: Bool = false
    ) async throws
        -> RegistrationResponse
    {
        try await field.card.registerCardOnly(
            pin: pin, username: "alice", displayName: "Alice", rpID: "localhost", challenge: challenge,
            origin: try origin(), isResident: resident)
    }

    private func options(_ ids: [[UInt8]]) -> PublicKeyCredentialRequestOptions {
        PublicKeyCredentialRequestOptions(
            challenge: challenge, allowCredentials: ids.map { PublicKeyCredentialDescriptor(id: $0) })
    }

    @Test(arguments: [DeviceModel.arculus, .arculusP71]) func registersAndAuthenticates(
        _ model: DeviceModel
    ) async throws {
        let field = try await Field(model)
        let pin = PIN()
        let made = try await register(field, pin.arculus)
        let data = made.attestationObject.authenticatorData
        #expect(data.flags.contains(.userVerified) && data.flags.contains(.userPresent))
        expect(ArculusModel(rawValue: data.credential?.aaguid ?? []).name?.hasPrefix("Arculus"), is: true)
        let clientData = try ClientData(parsing: try #require(made.clientDataJSON))
        #expect(clientData.origin == "http://localhost:5810" && clientData.challenge == challenge)
        _ = try AttestationVerification(rpID: "localhost").check(
            made.attestationObject, clientDataHash: clientData.hash)
        expect(made.arculusJSON["response"]?["transports"], is: ["nfc"])
        expect(made.arculusJSON["id"], is: made.arculusJSON["rawId"])
        let signed = try await field.card.authenticateCardOnly(
            pin: pin.arculus, username: "alice", rpID: "localhost", options: options([made.id]), origin: try origin())
        let text = try ClientData(parsing: try #require(signed.clientDataJSON))
        try AssertionVerification(rpID: "localhost", publicKey: try #require(made.publicKey)).check(
            signed.authenticatorData, signature: signed.signature, clientDataHash: text.hash)
        expect(signed.arculusJSON["response"]?["userHandle"], is: "")
        expect(field.prompts, is: [.holdSteady, .done, .holdSteady, .done])
        expect(pin.questions, is: [8, 8])
    }

    @Test func choosesTheUser() async throws {
        let field = try await Field()
        _ = try await register(field, PIN().arculus, resident: true)
        _ = try await field.card.registerCardOnly(
            pin: PIN().arculus, username: "bob", displayName: "Bob", rpID: "localhost", challenge: challenge,
            origin: try origin(), isResident: true)
        func sign(_ user: String?) async throws -> AuthenticationResponse {
            try await field.card.authenticateCardOnly(
                pin: PIN().arculus, username: user, rpID: "localhost", options: options([]), origin: try origin())
        }
        try await expect(sign("alice").userHandle, is: Array("alice".utf8))
        try await expect(sign("bob").userHandle, is: Array("bob".utf8))
        #expect(try await sign(nil).userHandle != nil)
        await fails(.userNotFound) { try await sign("carol") }
    }

    @Test func longNames() async throws {
        let field = try await Field()
        _ = try await field.card.registerCardOnly(
            pin: PIN().arculus, username: String(repeating: "x", count: 65), displayName: "X", rpID: "localhost",
            challenge: challenge, origin: try origin(), isResident: true)
        let signed = try await field.card.authenticateCardOnly(
            pin: PIN().arculus, username: nil, rpID: "localhost", options: options([]), origin: try origin())
        expect(signed.userHandle?.count, is: 32)
    }

    @Test func refusesOptionsForOthers() async throws {
        let field = try await Field()
        var other = options([])
        other.rpID = "example.com"
        await #expect(throws: ArculusError.reply("the options are for 'example.com', not for 'localhost'")) {
            try await field.card.authenticateCardOnly(
                pin: PIN().arculus, username: nil, rpID: "localhost", options: other, origin: try origin())
        }
        expect(field.connections, is: 0)
    }

    @Test func refusesShortPINsBeforeTheCardSeesThem() async throws {
        let field = try await Field()
        #expect(throws: ArculusError.unsuitablePIN(.tooShort(5))) { try ArculusPIN(secret("12345")) }
        await fails(.setPINFailed) { try await register(field, PIN("12345").arculus) }
        await #expect(throws: ArculusError.unsuitablePIN(.notDigits)) {
            try await field.card.reset(to: secret("abcdef"))
        }
        await #expect(throws: ArculusError.unsuitablePIN(.tooShort(5))) {
            try await field.card.changePIN(from: { _ in secret("123456") }, to: secret("12345"))
        }
        try await expect(field.retries(), is: 8)
        // One that has other characters may have been set elsewhere.
        _ = try ArculusPIN(secret("abcdef"))
    }

    @Test func saysWhatACodeSays() async throws {
        let field = try await Field()
        await fails(.noCredentials) {
            try await field.card.authenticateCardOnly(
                pin: PIN().arculus, username: nil, rpID: "localhost", options: options([[1, 2, 3]]),
                origin: try origin())
        }
        await fails(.pinFailed) { try await register(field, PIN("654321").arculus) }
        try await expect(field.retries(), is: 7)
        await fails(.pinFailed) { try await register(field, PIN(nil).arculus) }
        let bare = try await Field(pin: nil)
        await fails(.pinFailed) { try await register(bare, PIN().arculus) }
        await fails(.pinFailed) {
            try await bare.card.changePIN(from: { _ in secret("123456") }, to: secret("654321"))
        }
        let full = try await Field(faults: "on 801080 at 5: status 28")
        await fails(.storeFull) { try await register(full, PIN().arculus) }
        expect(full.offers, is: 0)
    }

    @Test func tellsWhatTheCardIs() async throws {
        let state = try await Field().card.state()
        #expect(state.model == .keyCard && state.retries?.count == 8 && state.info.hasPIN)
        try await expect(Field(.arculusP71, pin: nil).card.state().retries, is: nil)
        let other = try await Field(.yubiKey)
        try await expect(other.card.state().model.name, is: nil)
        var strict = other.card
        strict.takesOnlyArculus = true
        strict.isStrict = true
        await #expect(throws: ArculusError.notArculus(try await other.card.state().info.aaguid)) {
            try await strict.state()
        }
        var mine = try await Field().card
        mine.takesOnlyArculus = true
        mine.isStrict = true
        #expect(try await mine.state().model.name != nil)
    }

    @Test func resetsAndChangesThePIN() async throws {
        let field = try await Field(.arculusP71)
        let made = try await register(field, PIN().arculus)
        try await field.card.changePIN(
            from: { retries in
                expect(retries.count, is: 8)
                return secret("123456")
            }, to: secret("654321"))
        await fails(.pinFailed) { try await register(field, PIN().arculus) }
        _ = try await field.card.authenticate(
            options([made.id]), username: nil, origin: try origin(), pin: PIN("654321").arculus)
        await fails(.pinFailed) {
            try await field.card.changePIN(from: { _ in secret("000000") }, to: secret("111111"))
        }
        await fails(.pinFailed) { try await field.card.changePIN(from: { _ in nil }, to: secret("111111")) }
        try await field.card.reset(to: secret("222222"))
        await fails(.noCredentials) {
            try await field.card.authenticate(
                options([made.id]), username: nil, origin: try origin(), pin: PIN("222222").arculus)
        }
        let wanted = try ArculusOptions.creation(fromBackend: Array(Texts.creation.utf8))
        _ = try await field.card.register(
            wanted, origin: try origin(), pin: PIN("not used").arculus, afterResetTo: secret("333333"))
        try await field.service().verifyPIN(secret("333333"))
    }

    @Test func blockedPINs() async throws {
        let field = try await Field()
        for _ in 0..<8 {
            await fails(.pinFailed) { try await register(field, PIN("000000").arculus) }
            try field.key.link().reset(.cold, deadline: .after(.seconds(1)))
        }
        let pin = PIN()
        await #expect(throws: ArculusError.card(.key(.pinBlocked), during: .registering)) {
            try await register(field, pin.arculus)
        }
        await #expect(throws: ArculusError.card(.key(.pinBlocked), during: .settingPIN)) {
            try await field.card.changePIN(from: { _ in secret("123456") }, to: secret("654321"))
        }
        #expect(pin.questions.isEmpty)
        try await field.card.reset(to: secret("222222"))
        try await expect(field.retries(), is: 8)
    }
}

/// Expects a failure with this code.
func fails<Value>(
    _ code: ArculusCode, sourceLocation: SourceLocation = #_sourceLocation, _ body: () async throws -> Value
) async {
    do {
        _ = try await body()
        Issue.record("it went well", sourceLocation: sourceLocation)
    } catch let error as ArculusError {
        expect(error.code, is: code, "\(error)", sourceLocation: sourceLocation)
        #expect(!error.description.isEmpty, sourceLocation: sourceLocation)
    } catch {
        Issue.record("\(error)", sourceLocation: sourceLocation)
    }
}
