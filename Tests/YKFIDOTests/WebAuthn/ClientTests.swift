// SPDX-License-Identifier: Apache-2.0

import Synchronization
import Testing
import YKCrypto
import YKFIDO
import YKTestSupport
import YKTransport
import YKVirtualKey
import YKWire

/// The WebAuthn client on the virtual key, over a card and over HID.
struct ClientTests {
    @Test(arguments: Way.allCases)
    func registersAndSigns(_ way: Way) async throws {
        let site = try await Site(way)
        let made = try await site.client.create(Site.creation())
        if case .certificates = try site.verify(made) {} else { Issue.record("no certificate") }
        #expect(made.attachment == .crossPlatform && made.transports.contains(.usb))
        #expect(made.json["id"] == made.json["rawId"] && made.json["type"] == "public-key")
        expect(made.json["response"]?["publicKeyAlgorithm"], is: -7)
        let other = [UInt8](repeating: 7, count: 66)
        let signed = try await site.client.get(Site.request([other, made.id])) { _ in nil }
        try site.verify(signed, by: made)
        #expect(signed.userHandle == nil && signed.clientExtensionResults.members.isEmpty)
        await expect(.notAllowed) { try await site.client.get(Site.request([other])) }
        await expect(.invalidState) {
            try await site.client.create(
                Site.creation(["excludeCredentials": .array([["type": "public-key", "id": made.json["id"] ?? nil]])]))
        }
    }

    @Test func choosesAmongAccounts() async throws {
        let site = try await Site(pin: "12345")
        var made: [RegistrationResponse] = []
        for (id, name) in [("AQ", "alice"), ("Ag", "bob")] {
            let options = try Site.creation(
                [
                    "user": ["id": .string(id), "name": .string(name), "displayName": "x"],
                    "authenticatorSelection": ["residentKey": "required", "userVerification": "required"],
                ], extensions: ["credProps": true])
            made.append(try await site.client.create(options))
            expect(made.last?.clientExtensionResults["credProps"], is: ["rk": true])
        }
        let options = try Site.request([], ["userVerification": "required"])
        let signed = try await site.client.get(options) { assertions in
            assertions.firstIndex { $0.response.user?.name == "alice" }
        }
        try site.verify(signed, by: made[0])
        expect(signed.userHandle, is: [1])
        try await expect(site.client.get(options).map(\.userHandle), is: [[2], [1]])
        await expect(.notAllowed) { try await site.client.get(options) { _ in nil } }
        await expect(.notAllowed) { try await site.client.get(options) { _ in 7 } }
        expect(site.bench.pins.requests.count, is: 6)
    }

    @Test func asksForThePINAsTheOptionsSay() async throws {
        let site = try await Site(pin: "12345")
        let plain = try await site.client.create(
            Site.creation(["authenticatorSelection": ["userVerification": "discouraged"]]))
        #expect(!plain.attestationObject.authenticatorData.flags.contains(.userVerified))
        #expect(site.bench.pins.requests.isEmpty)
        let preferred = try await site.client.create(Site.creation())
        #expect(preferred.attestationObject.authenticatorData.flags.contains(.userVerified))
        let unverified = try await site.client.get(Site.request([plain.id], ["userVerification": "discouraged"]))
        expect(unverified.first?.authenticatorData.flags, is: .userPresent)
        try await site.client.service.configure(.toggleAlwaysUV)
        let always = try await site.client.get(Site.request([plain.id], ["userVerification": "discouraged"]))
        expect(always.first?.authenticatorData.flags.contains(.userVerified), is: true)
        site.bench.pins.type(nil)
        await #expect(throws: WebAuthnError.key(.pinNeeded)) { try await site.client.create(Site.creation()) }
        site.bench.pins.type("wrong")
        await #expect(throws: WebAuthnError.key(.wrongPIN(PINRetries(count: 7)))) {
            try await site.client.create(Site.creation())
        }
    }

    @Test func refusesWhatTheKeyCannot() async throws {
        let site = try await Site()
        await expect(.notAllowed) {  // No PIN is set.
            try await site.client.create(Site.creation(["authenticatorSelection": ["userVerification": "required"]]))
        }
        await expect(.notAllowed) {
            try await site.client.create(
                Site.creation(["authenticatorSelection": ["authenticatorAttachment": "platform"]]))
        }
        await expect(.notSupported) {
            try await site.client.create(
                Site.creation(["pubKeyCredParams": [["type": "public-key", "alg": -65535]]]))
        }
        await expect(.notSupported) {
            try await site.client.create(Site.creation(["pubKeyCredParams": [["type": "other", "alg": -7]]]))
        }
        await expect(.security) { try await site.client.create(Site.creation(["rp": ["id": "com", "name": "x"]])) }
        await expect(.security) { try await site.client.get(Site.request([[1]], ["rpId": "example.org"])) }
        await expect(.notAllowed) {
            try await site.client.get(
                Site.request([], ["allowCredentials": [["type": "other", "id": "AQ"]]]))
        }
        await expect(.type) { try await site.client.create(Site.creation(), clientDataHash: [1]) }
    }

    @Test func signsAHashOfOthers() async throws {
        let site = try await Site()
        let made = try await site.client.create(Site.creation(["pubKeyCredParams": []]), clientDataHash: hash)
        #expect(made.clientDataJSON == nil && made.json["response"]?["clientDataJSON"] == nil)
        _ = try AttestationVerification(rpID: "example.com").check(made.attestationObject, clientDataHash: hash)
        let signed = try #require(try await site.client.get(Site.request([made.id]), clientDataHash: hash).first)
        try AssertionVerification(rpID: "example.com", publicKey: try #require(made.publicKey)).check(
            signed.authenticatorData, signature: signed.signature, clientDataHash: hash)
    }

    @Test func conveysAttestation() async throws {
        let site = try await Site(pin: "12345")
        let none = try await site.client.create(Site.creation(["attestation": "none"]))
        #expect(none.attestationObject.format == .none && none.attestationObject.statement.isEmpty)
        expect(none.attestationObject.authenticatorData.credential?.aaguid.contains { $0 != 0 }, is: true)
        try expect(site.verify(none), is: .none)
        try await expect(
            site.client.create(Site.creation(["attestation": "indirect"])).attestationObject.format, is: .packed
        )
        let formats = try await site.client.create(Site.creation(["attestationFormats": ["none"]]))
        expect(formats.attestationObject.format, is: .none)
        try site.verify(try await site.client.create(Site.creation(["attestation": "enterprise"])))
        try await site.client.service.configure(.enableEnterpriseAttestation)
        var client = site.client
        client.managedRelyingParties = ["example.com"]
        try site.verify(try await client.create(Site.creation(["attestation": "enterprise"])))
    }

    @Test func saysWhereThePageIs() async throws {
        let site = try await Site()
        var client = site.client
        client.topOrigin = try Origin("https://shop.example")
        let made = try await client.create(Site.creation())
        let data = try ClientData(parsing: try #require(made.clientDataJSON))
        #expect(data.crossOrigin == true && data.topOrigin == "https://shop.example")
    }

    @Test func endsInTime() async throws {
        let site = try await Site(inputs: VirtualInputs(touch: { _ in .pending }))
        await expect(.notAllowed) { try await site.client.create(Site.creation(["timeout": 20])) }
        await expect(.notAllowed) { try await site.client.get(Site.request([], ["timeout": 20])) }
        var client = site.client
        client.usesU2F = true
        await expect(.notAllowed) { try await client.create(Site.creation(["timeout": 20])) }
        let patient = try Site.creation(["timeout": 9e15])
        expect(patient.timeout, is: .milliseconds(9_000_000_000_000_000))
        let denied = try await Site(inputs: VirtualInputs(touch: { _ in .notTouched }))
        await #expect(throws: WebAuthnError.key(.touchTimeout)) { try await denied.client.create(patient) }
    }

    @Test func isCalledOff() async throws {
        let bench = try Bench(inputs: VirtualInputs(touch: { _ in .pending }))
        let environment = ServiceEnvironment.instant
        let service = try await FIDOService.open(
            card: CardChannel(link: bench.key.link(), environment: environment),
            interaction: FIDOInteraction(touch: { environment.cancellation.cancel() }))
        let client = WebAuthnClient(service: service, origin: try Origin("https://example.com"))
        await expect(.abort) { try await client.create(Site.creation()) }
    }

    @Test func publicKeysComeAsSubjectPublicKeyInfo() async throws {
        let site = try await Site()
        for algorithm in [-7, -8] as [Int64] {
            let made = try await site.client.create(
                Site.creation(["pubKeyCredParams": [["type": "public-key", "alg": .int(algorithm)]]]))
            try site.verify(made)
            let info = try #require(made.publicKey?.subjectPublicKeyInfo)
            expect(info.count, is: (algorithm == -7 ? 91 : 44))
            expect(made.json["response"]?["publicKey"], is: .string(Base64.encodeURL(info)))
        }
        let rsa = COSEKey(rsaModulus: [0x80] + .init(repeating: 1, count: 255), exponent: [1, 0, 1], algorithm: .rs256)
        let info = try #require(rsa.subjectPublicKeyInfo)
        expect(
            Hex.encode(Array(info.prefix(32))), is: "30820122300d06092a864886f70d01010105000382010f003082010a02820101")
        expect(info.count, is: 294)
        for curve in [COSECurve.p384, .p521, .secp256k1] {
            let size = try #require(curve.coordinateSize)
            let key = COSEKey(
                ec2: curve, algorithm: .es384, x: .init(repeating: 1, count: size), y: .init(repeating: 2, count: size))
            expect(key.subjectPublicKeyInfo?.first, is: 0x30)
        }
        expect(
            COSEKey(okp: .ed448, algorithm: .ed448, x: .init(repeating: 1, count: 57)).subjectPublicKeyInfo?.count,
            is: 69
        )
        try expect(COSEKey(decoding: CBOR.map([1: 7, 3: -48]).encoded).subjectPublicKeyInfo, is: nil)
    }
}
