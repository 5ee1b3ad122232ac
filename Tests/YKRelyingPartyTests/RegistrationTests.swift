// SPDX-License-Identifier: Apache-2.0

import Testing
import YKCrypto
import YKFIDO
import YKRelyingParty
import YKTestSupport
import YKTransport
import YKWire

/// Registrations, and each step of WebAuthn Level 3 §7.1 that refuses one.
struct RegistrationTests {
    /// An authenticator that is refused for this reason, and would not be refused without the change.
    private func refused(
        _ error: CeremonyError, _ requirements: RegistrationRequirements = RegistrationRequirements(),
        party: (inout WebAuthnRelyingParty) -> Void = { _ in }, _ location: SourceLocation = #_sourceLocation,
        _ change: (inout Authenticator) -> Void
    ) async throws {
        let server = try Server(party)
        var authenticator = try Authenticator()
        change(&authenticator)
        await YKRelyingPartyTests.refused(error, location) {
            try await server.register(authenticator.create, asking: requirements)
        }
        expect(server.record(authenticator.id), is: nil, sourceLocation: location)
    }

    @Test func registers() async throws {
        let server = try Server()
        var authenticator = try Authenticator()
        authenticator.results = ["credProps": ["rk": true], "prf": ["enabled": true]]
        authenticator.outputs = ["credProtect": 2, "minPinLength": 4]
        let made = try await server.register(authenticator.create)
        #expect(made.record.id == [1, 2, 3, 4] && made.record.user == Server.alice.id && made.record.signCount == 1)
        #expect(made.record.isUserVerificationInitialized && !made.record.isBackupEligible && !made.record.isBackedUp)
        #expect(made.record.transports == [.usb] && made.record.aaguid == [UInt8](repeating: 9, count: 16))
        #expect(made.trust == .none && made.format == .none && made.model == nil)
        #expect(made.extensions.isDiscoverable == true && made.extensions.hasPRF == true)
        #expect(made.extensions.protection == .optionalWithList && made.extensions.minPINLength == 4)
        expect(made.extensions.hasLargeBlob, is: nil)
        try expect(CredentialRecord(json: JSONValue(parsing: made.record.json.text)), is: made.record)
    }

    @Test func writesOptions() async throws {
        let server = try Server { $0.attestation = .indirect }
        var wanted = RegistrationRequirements()
        wanted.selection.userVerification = .required
        wanted.hints = [.securityKey]
        wanted.attestationFormats = [.packed]
        wanted.extensions.protection = .required
        wanted.extensions.enforcesProtection = true
        wanted.extensions.prf = PRFInput(first: [1], second: [2])
        wanted.extensions.largeBlob = .preferred
        wanted.extensions.asksMinPINLength = true
        wanted.extensions.appIDExclude = "https://example.com/u2f"
        wanted.extensions.others["uvm"] = true
        let made = try await server.register(Authenticator().create)
        let begun = try await server.party.beginRegistration(
            of: Server.alice, session: "s", excluding: [made.record], wanted)
        let json = begun.options.json
        expect(json["rp"], is: ["id": "example.com", "name": "Example"])
        #expect(json["user"]?["name"] == "alice" && json["timeout"] == 300_000)
        expect(json["excludeCredentials"]?.array?.first?["transports"], is: ["usb"])
        expect(json["pubKeyCredParams"]?.array?.map { $0["alg"] }, is: [-7, -8, -257])
        #expect(json["attestation"] == "indirect" && json["attestationFormats"] == ["packed"])
        expect(json["hints"], is: ["security-key"])
        expect(json["authenticatorSelection"]?["userVerification"], is: "required")
        let expected: JSONValue = [
            "credProps": true, "credentialProtectionPolicy": "userVerificationRequired",
            "enforceCredentialProtectionPolicy": true, "prf": ["eval": ["first": "AQ", "second": "Ag"]],
            "largeBlob": ["support": "preferred"], "minPinLength": true, "appidExclude": "https://example.com/u2f",
            "uvm": true,
        ]
        expect(json["extensions"], is: expected)
        expect(begun.options.challenge.count, is: 32)
        wanted.wantsEnterpriseAttestation = true
        let enterprise = try await server.party.beginRegistration(of: Server.alice, session: "s", wanted)
        expect(enterprise.options.attestation, is: .enterprise)
        #expect(enterprise.options.challenge != begun.options.challenge)
        for size in [0, 65] {
            await YKRelyingPartyTests.refused(
                .malformed(.member("user.id", problem: "\(size) bytes, expected 1 to 64"))
            ) {
                let user = FIDOUser(id: [UInt8](repeating: 1, count: size))
                return try await server.party.beginRegistration(of: user, session: "s")
            }
        }
    }

    @Test func checksClientData() async throws {
        try await refused(.type(.get)) { $0.type = .get }
        try await refused(.challenge) { $0.challenge = [UInt8](repeating: 0, count: 32) }
        try await refused(.origin("https://l0gin.example.com")) { $0.origin = "https://l0gin.example.com" }
        try await refused(.origin("https://login.example.com:444")) { $0.origin += ":444" }
        try await refused(.crossOrigin) { $0.crossOrigin = true }
        try await refused(.topOrigin("https://evil.example")) { $0.topOrigin = "https://evil.example" }
        let frames: (inout WebAuthnRelyingParty) -> Void = { $0.topOrigins = ["https://shop.example"] }
        try await refused(.topOrigin("https://evil.example"), party: frames) {
            $0.crossOrigin = true
            $0.topOrigin = "https://evil.example"
        }
        var embedded = try Authenticator()
        embedded.crossOrigin = true
        embedded.topOrigin = "https://shop.example"
        try await Server(frames).register(embedded.create)
    }

    @Test func checksAuthenticatorData() async throws {
        var verified = RegistrationRequirements()
        verified.selection.userVerification = .required
        try await refused(.otherRelyingParty) { $0.rpID = "login.example.com" }
        try await refused(.noPresence) { $0.flags = .userVerified }
        try await refused(.noUserVerification, verified) { $0.flags = .userPresent }
        try await refused(.backupEligible, party: { $0.requiresDeviceBound = true }) {
            $0.flags.insert(.backupEligible)
        }
        try await refused(.algorithm(.es256K)) { $0.algorithm = .es256K }
        var conditional = RegistrationRequirements()
        conditional.isConditional = true
        var absent = try Authenticator()
        absent.flags = []
        let made = try await Server().register(absent.create, asking: conditional)
        #expect(!made.record.isUserVerificationInitialized)
    }

    @Test func refusesABackupStateWithoutEligibility() async throws {
        let server = try Server()
        var authenticator = try Authenticator()
        authenticator.flags.insert(.backedUp)
        do {
            try await server.register(authenticator.create)
            Issue.record("accepted")
        } catch CeremonyError.malformed(.member(let member, let problem, _)) {
            #expect(member == "response.attestationObject" && problem.contains("eligible"))
        }
        authenticator.flags.insert(.backupEligible)
        let made = try await server.register(authenticator.create)
        #expect(made.record.isBackupEligible && made.record.isBackedUp)
    }

    @Test func checksStatements() async throws {
        try await refused(.attestation(.malformedStatement("format none with a statement"))) {
            $0.statement = ["sig": 1]
        }
        try await refused(.attestation(.unsupportedFormat(.androidSafetyNet))) { $0.format = .androidSafetyNet }
        try await refused(.attestation(.badSignature)) {
            $0.format = .packed
            $0.breaksSignature = true
        }
        var own = try Authenticator()
        own.format = .packed
        let made = try await Server { $0.attestation = .indirect }.register(own.create)
        #expect(made.trust == .selfSigned && made.format == .packed)
        try await refused(.attestation(.untrusted), party: { $0.attestation = .direct(TrustAnchors([])) }) {
            $0.format = .packed
        }
        try await refused(.attestation(.untrusted), party: { $0.attestation = .direct(TrustAnchors([])) }) { _ in }
    }

    @Test func checksExtensions() async throws {
        var wanted = RegistrationRequirements()
        wanted.extensions.protection = .required
        wanted.extensions.enforcesProtection = true
        try await refused(.extension("credProtect"), wanted) { $0.outputs = ["credProtect": 2] }
        try await refused(.extension("credProtect"), wanted) { _ in }
        wanted.extensions.enforcesProtection = false
        try await Server().register(Authenticator().create, asking: wanted)
        wanted.extensions.largeBlob = .required
        try await refused(.extension("largeBlob"), wanted) { $0.results = ["largeBlob": ["supported": false]] }
        var able = try Authenticator()
        able.results = ["largeBlob": ["supported": true]]
        try await expect(Server().register(able.create, asking: wanted).extensions.hasLargeBlob, is: true)
    }

    @Test func refusesAKnownCredential() async throws {
        let server = try Server()
        let authenticator = try Authenticator()
        try await server.register(authenticator.create)
        await YKRelyingPartyTests.refused(.alreadyRegistered) {
            try await server.register(authenticator.create)
        }
    }

    @Test func refusesWhatCannotBeRead() async throws {
        let server = try Server()
        for text in ["", "{}", #"{"id":"AQ","response":{"attestationObject":"oA"}}"#] {
            let begun = try await server.party.beginRegistration(of: Server.alice, session: "s")
            do {
                _ = try await server.party.finishRegistration(
                    Array(text.utf8), token: begun.token, session: "s"
                ) { _ in false }
                Issue.record("accepted \(text)")
            } catch .malformed {}
        }
        let begun = try await server.party.beginRegistration(of: Server.alice, session: "s")
        let made = try Authenticator().create(begun.options)
        let bare = RegistrationResponse(
            clientDataJSON: nil, attestationObject: made.attestationObject, transports: [], attachment: nil)
        await YKRelyingPartyTests.refused(
            .malformed(.member("response.clientDataJSON", problem: "it is missing"))
        ) {
            try await server.party.finishRegistration(
                Array(bare.json.text.utf8), token: begun.token, session: "s"
            ) { _ in false }
        }
        let long = AuthenticatorData.credentialIDLimit + 1
        var authenticator = try Authenticator()
        authenticator.id = [UInt8](repeating: 1, count: long)
        do {
            try await server.register(authenticator.create)
            Issue.record("accepted an identifier of \(long) bytes")
        } catch CeremonyError.malformed {}
    }

    @Test func liftsTheErrorsOfTheDatabase() async throws {
        struct Broken: Error {}
        let server = try Server()
        let begun = try await server.party.beginRegistration(of: Server.alice, session: "s")
        let made = try Authenticator().create(begun.options)
        await YKRelyingPartyTests.refused(.store("Broken()")) {
            try await server.party.finishRegistration(
                Array(made.json.text.utf8), token: begun.token, session: "s"
            ) { _ in throw Broken() }
        }
    }
}
