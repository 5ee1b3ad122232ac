// SPDX-License-Identifier: Apache-2.0

import Testing
import YKCrypto
import YKFIDO
import YKTestSupport
import YKTransport
import YKVirtualKey
import YKWire

/// The client's extensions, on the virtual key and on keys that say what a test wants.
struct ClientExtensionTests {
    private static let resident: JSONValue = ["authenticatorSelection": ["residentKey": "required"]]

    @Test(arguments: Way.allCases)
    func makesSecretsByPRF(_ way: Way) async throws {
        let site = try await Site(way, pin: "12345")
        let made = try await site.client.create(Site.creation([:], extensions: ["prf": ["eval": ["first": "AQ"]]]))
        expect(made.clientExtensionResults["prf"]?["enabled"], is: true)
        let other = try await site.client.create(
            Site.creation(
                ["user": ["id": "BA", "name": "b", "displayName": "b"]], extensions: ["hmacCreateSecret": true]))
        expect(other.clientExtensionResults["hmacCreateSecret"], is: true)
        func ask(_ allowed: [[UInt8]], _ prf: JSONValue, _ members: JSONValue = [:]) async throws -> JSONValue? {
            let signed = try await site.client.get(Site.request(allowed, members, extensions: ["prf": prf])).first
            return signed?.clientExtensionResults["prf"]?["results"]
        }
        let both = try #require(try await ask([made.id], ["eval": ["first": "AQ", "second": "Ag"]]))
        let second = try await ask([made.id], ["eval": ["first": "Ag"]], ["userVerification": "discouraged"])
        #expect(both["second"] != nil && both["second"] == second?["first"])
        let ids = [other.id, made.id].map(Base64.encodeURL)
        var table = JSONValue.Object()
        table[ids[1]] = ["first": "Ag"]
        let chosen = try await ask([made.id], ["eval": ["first": "AQ"], "evalByCredential": .object(table)])
        expect(chosen?["first"], is: second?["first"])
        let found = try await ask([[9], made.id, [8]], ["evalByCredential": .object(table)])
        expect(found?["first"], is: second?["first"])
        try await expect(ask([other.id, [9]], ["evalByCredential": [:]]), is: nil)
        let salt = JSONValue.string(Base64.encodeURL(HashAlgorithm.sha256.hash(Array("WebAuthn PRF".utf8) + [0, 2])))
        let raw = try await site.client.get(
            Site.request([made.id], extensions: ["hmacGetSecret": ["salt1": salt, "salt2": salt]])
        ).first?.clientExtensionResults["hmacGetSecret"]
        #expect(raw?["output1"] == second?["first"] && raw?["output2"] == second?["first"])
    }

    @Test func refusesWrongInputsOfPRF() async throws {
        let site = try await Site()
        let eval: JSONValue = ["first": "AQ"]
        for (name, prf) in [
            (.notSupported, ["evalByCredential": ["AQ": eval]]), (.type, 1), (.type, ["eval": [:]]),
            (.type, ["eval": ["first": "*"]]), (.type, ["eval": ["first": "AQ", "second": 1]]),
        ] as [(DOMExceptionName, JSONValue)] {
            await expect(name) { try await site.client.create(Site.creation([:], extensions: ["prf": prf])) }
        }
        for (name, allowed, inputs) in [
            (.notSupported, [], ["prf": ["evalByCredential": ["AQ": eval]]]),
            (.syntax, [[2]], ["prf": ["evalByCredential": ["AQ": eval]]]),
            (.syntax, [[1]], ["prf": ["evalByCredential": ["": eval]]]),
            (.syntax, [[1]], ["prf": ["evalByCredential": ["*": eval]]]),
            (.type, [[1]], ["prf": ["evalByCredential": ["AQ": 1]]]),
            (.type, [[1]], ["hmacGetSecret": ["salt1": "AQ"]]), (.type, [[1]], ["hmacGetSecret": [:]]),
            (.notSupported, [[1]], ["prf": ["eval": eval], "hmacGetSecret": ["salt1": .string(Self.salt)]]),
        ] as [(DOMExceptionName, [[UInt8]], JSONValue)] {
            await expect(name) { try await site.client.get(Site.request(allowed, extensions: inputs)) }
        }
        await expect(site.client.service.statistics.exchanges, is: 1)
    }

    private static let salt = Base64.encodeURL([UInt8](repeating: 5, count: 32))

    /// A key with hmac-secret-mc makes secrets with the credential.
    @Test func makesSecretsWithTheCredential() async throws {
        let script = TailoredKey.Script(
            [2: ["hmac-secret", "hmac-secret-mc"], 4: ["clientPin": false], 6: [1]], outputs: ["hmac-secret": true])
        let client = try await TailoredKey.client(script)
        let made = try await client.create(
            Site.creation(
                ["authenticatorSelection": ["userVerification": "discouraged"]],
                extensions: ["prf": ["eval": ["first": "AQ", "second": "Ag"]]]))
        let results = made.clientExtensionResults["prf"]
        #expect(results?["enabled"] == true && results?["results"]?["first"]?.string?.count == 43)
        #expect(results?["results"]?["first"] != results?["results"]?["second"])
        expect(script.parameters(of: 1)?[6]?.map?["hmac-secret"], is: true)
        let raw = try await client.create(
            Site.creation([:], extensions: ["hmacGetSecret": ["salt1": .string(Self.salt)]]))
        expect(raw.clientExtensionResults["hmacGetSecret"], is: ["output1": .string(Self.salt)])
    }

    @Test(arguments: Way.allCases)
    func keepsLargeBlobs(_ way: Way) async throws {
        let site = try await Site(way, pin: "12345")
        let made = try await site.client.create(
            Site.creation(Self.resident, extensions: ["largeBlob": ["support": "required"]]))
        expect(made.clientExtensionResults["largeBlob"], is: ["supported": true])
        site.bench.pins.type("12345")
        let before = site.bench.pins.requests.count
        let written = try await site.client.get(
            Site.request([made.id], extensions: ["largeBlob": ["write": "AQIDBA"]])
        ).first
        expect(written?.clientExtensionResults["largeBlob"], is: ["written": true])
        expect(site.bench.pins.requests.count, is: before + 1)
        let read = try await site.client.get(Site.request([], extensions: ["largeBlob": ["read": true]])).first
        expect(read?.clientExtensionResults["largeBlob"], is: ["blob": "AQIDBA"])
        let random = JSONValue.string(Base64.encodeURL(SystemRandom().draw(5000, secret: false)))
        let refused = try await site.client.get(
            Site.request([made.id], extensions: ["largeBlob": ["write": random]])
        ).first
        expect(refused?.clientExtensionResults["largeBlob"], is: ["written": false])
        let without = try await site.client.create(Site.creation([:], extensions: ["largeBlob": [:]]))
        expect(without.clientExtensionResults["largeBlob"], is: ["supported": false])
        for (task, result) in [(["read": true], [:]), (["write": "AQ"], ["written": false])] as [(JSONValue, JSONValue)]
        {
            let signed = try await site.client.get(Site.request([without.id], extensions: ["largeBlob": task])).first
            expect(signed?.clientExtensionResults["largeBlob"], is: result)
        }
    }

    @Test func refusesWrongInputsOfLargeBlob() async throws {
        let site = try await Site()
        for blob in [["read": true], ["write": "AQ"], ["support": "required"]] as [JSONValue] {
            await expect(.notSupported) {
                try await site.client.create(Site.creation([:], extensions: ["largeBlob": blob]))
            }
        }
        for (allowed, blob) in [
            ([], ["write": "AQ"]), ([[1], [2]], ["write": "AQ"]), ([[1]], ["write": "AQ", "read": true]),
            ([[1]], ["support": "preferred"]),
        ] as [([[UInt8]], JSONValue)] {
            await expect(.notSupported) {
                try await site.client.get(Site.request(allowed, extensions: ["largeBlob": blob]))
            }
        }
        let signed = try await site.client.create(Site.creation())
        let nothing = try await site.client.get(Site.request([signed.id], extensions: ["largeBlob": [:]])).first
        expect(nothing?.clientExtensionResults.members.isEmpty, is: true)
        await expect(site.client.service.statistics.exchanges, is: 3)
    }

    @Test func protectsAndKeepsBytes() async throws {
        let site = try await Site(pin: "12345", version: FirmwareVersion(5, 8, 0))
        var rules = AuthenticatorConfig.PINRules()
        rules.rpIDs = ["example.com"]
        try await site.client.service.configure(.pinRules(rules))
        let made = try await site.client.create(
            Site.creation(
                Self.resident,
                extensions: [
                    "credentialProtectionPolicy": "userVerificationRequired",
                    "enforceCredentialProtectionPolicy": true, "credBlob": "AQID", "minPinLength": true,
                    "pinComplexityPolicy": true, "uvm": true, "payment": ["isPayment": true], "future": ["x": 1],
                ]))
        expect(made.attestationObject.authenticatorData.extensions?["credProtect"], is: 3)
        expect(made.attestationObject.authenticatorData.extensions?["minPinLength"], is: 4)
        expect(made.clientExtensionResults, is: (["credBlob": true] as JSONValue).object)
        await expect(.notAllowed) {
            try await site.client.get(Site.request([made.id], ["userVerification": "discouraged"]))
        }
        let signed = try await site.client.get(
            Site.request([made.id], extensions: ["getCredBlob": true, "thirdPartyPayment": true, "uvm": true])
        ).first
        expect(
            signed?.clientExtensionResults,
            is: (["getCredBlob": "AQID", "thirdPartyPayment": true] as JSONValue).object)
        for wrong in [
            ["credentialProtectionPolicy": "odd"], ["credBlob": 1], ["minPinLength": 1], ["uvm": "x"],
            ["payment": true], ["credProps": 1], ["hmacCreateSecret": "yes"],
        ] as [JSONValue] {
            await expect(.type) { try await site.client.create(Site.creation([:], extensions: wrong)) }
        }
    }

    @Test func signsPayments() async throws {
        let site = try await Site()
        var client = site.client
        let made = try await client.create(Site.creation())
        client.origin = try Origin("https://pay.example.org")
        let payment: JSONValue = [
            "isPayment": true, "topOrigin": "https://shop.example.org", "payeeName": "Shop",
            "total": ["currency": "EUR", "value": "1.00"], "instrument": ["icon": "i", "displayName": "card"],
        ]
        let signed = try #require(
            try await client.get(Site.request([made.id], extensions: ["payment": payment])).first)
        let data = try ClientData(parsing: try #require(signed.clientDataJSON))
        #expect(data.type == .payment && data.origin == "https://pay.example.org")
        expect(data.others["payment"]?["rpId"], is: "example.com")
        expect(data.others["payment"]?["total"]?["currency"], is: "EUR")
        #expect(
            String(decoding: data.bytes, as: UTF8.self).contains(
                #""crossOrigin":false,"payment":{"rpId":"example.com","topOrigin":"#))
        try AssertionVerification(rpID: "example.com", publicKey: try #require(made.publicKey)).check(
            signed.authenticatorData, signature: signed.signature, clientDataHash: data.hash)
        for missing in ["topOrigin", "payeeName", "total", "instrument"] {
            var object = try #require(payment.object)
            object[missing] = nil
            let inputs: JSONValue = ["payment": .object(object)]
            await expect(.type) { try await client.get(Site.request([made.id], extensions: inputs)) }
        }
        await expect(.security) {
            try await client.get(Site.request([made.id], ["rpId": "?"], extensions: ["payment": payment]))
        }
    }

    @Test func tellsHowTheUserWasVerified() async throws {
        let entries: CBOR = [[2, 4, 2], [1, 1, 1]]
        let script = TailoredKey.Script(
            [2: ["uvm", "thirdPartyPayment", "pinComplexityPolicy"]], outputs: ["uvm": entries])
        let client = try await TailoredKey.client(script)
        let made = try await client.create(
            Site.creation([:], extensions: ["uvm": true, "thirdPartyPayment": true, "pinComplexityPolicy": true]))
        expect(made.clientExtensionResults["uvm"], is: [[2, 4, 2], [1, 1, 1]])
        expect(script.parameters(of: 1)?[6], is: ["pinComplexityPolicy": true, "thirdPartyPayment": true, "uvm": true])
        #expect(made.transports.isEmpty)
        let signed = try await client.get(Site.request([[1]], extensions: ["uvm": true])).first
        expect(signed?.clientExtensionResults["uvm"], is: [[2, 4, 2], [1, 1, 1]])
        for wrong in [1, [], [[1, 2]], [[1, 2, -1]], [[1], [1], [1], [1]]] as [CBOR] {
            let script = TailoredKey.Script([2: ["uvm"]], outputs: ["uvm": wrong])
            let made = try await TailoredKey.client(script).create(Site.creation([:], extensions: ["uvm": true]))
            #expect(made.clientExtensionResults.members.isEmpty)
        }
    }

    /// Somebody else's extension, beside the built-in ones.
    struct Mirror: ClientExtension {
        func prepare(_ request: inout RegistrationRequest, _ ceremony: CreationCeremony) throws(WebAuthnError) {
            guard ceremony.keyKnows("mirror") else { return }
            request.extensions.others["mirror"] = .text(ceremony.options.extensions["mirror"]?.string ?? "")
        }
        func finish(
            _ results: inout JSONValue.Object, _ registration: Registration, _ ceremony: CreationCeremony
        ) async throws(WebAuthnError) {
            results["mirror"] = registration.extensions.all["mirror"]?.text.map(JSONValue.string)
        }
        func clientData(_ data: ClientData, _ ceremony: RequestCeremony) throws(WebAuthnError) -> ClientData {
            var others = data.others
            others["mirror"] = .string(ceremony.origin.host)
            return ClientData(data.type, challenge: data.challenge, origin: data.origin, others: others)
        }
    }

    @Test func takesExtensionsOfOthers() async throws {
        let script = TailoredKey.Script([2: ["mirror"]], outputs: ["mirror": "image"])
        var client = try await TailoredKey.client(script)
        client.extensions.append(Mirror())
        let made = try await client.create(Site.creation([:], extensions: ["mirror": "face", "credProps": true]))
        expect(made.clientExtensionResults, is: (["credProps": ["rk": false], "mirror": "image"] as JSONValue).object)
        expect(script.parameters(of: 1)?[6], is: ["mirror": "face"])
        let signed = try #require(try await client.get(Site.request([[1]])).first)
        try expect(ClientData(parsing: try #require(signed.clientDataJSON)).others["mirror"], is: "login.example.com")
    }

    /// Answers that a client does not take from a key.
    @Test func refusesAnswersOfAnotherKind() async throws {
        let elsewhere = try await TailoredKey.client(.init([:], rpID: "example.org"))
        await expect(.unknown) { try await elsewhere.create(Site.creation()) }
        await expect(.unknown) { try await elsewhere.get(Site.request([[1]])) }
        let other = try await TailoredKey.client(.init([:]))
        await expect(.unknown) { try await other.get(Site.request([[2], [3]])) }
        let absent = try await TailoredKey.client(.init([:], flags: []))
        await expect(.notAllowed) { try await absent.create(Site.creation()) }
        await expect(.notAllowed) { try await absent.get(Site.request([[1]])) }
        let unverified = try await TailoredKey.client(.init([4: ["uv": true]]))
        await expect(.notAllowed) {
            try await unverified.get(Site.request([[1]], ["userVerification": "required"]))
        }
    }

    /// What of the options reaches the key, as the key says that it can.
    @Test func asksAsTheKeyCan() async throws {
        let preferred: JSONValue = ["authenticatorSelection": ["residentKey": "preferred"], "attestation": "none"]
        let full = TailoredKey.Script([4: ["rk": true], 0x14: 0])
        let client = try await TailoredKey.client(full)
        let made = try await client.create(Site.creation(preferred, extensions: ["credProps": true]))
        #expect(full.parameters(of: 1)?[7] == nil && full.parameters(of: 1)?[11] == nil)
        expect(made.clientExtensionResults["credProps"], is: ["rk": false])
        expect(made.attestationObject.format, is: .packed)  // It vouches for itself and says no model.
        let roomy = TailoredKey.Script([4: ["rk": true, "ep": true, "plat": true], 0x14: 5, 0x16: ["packed", "none"]])
        let platform = try await TailoredKey.client(roomy)
        _ = try await platform.create(Site.creation(preferred))
        expect(roomy.parameters(of: 1)?[7], is: ["rk": true])
        expect(roomy.parameters(of: 1)?[11], is: ["none"])
        var enterprise = platform
        let vendor = try await enterprise.create(
            Site.creation([
                "attestation": "enterprise", "attestationFormats": ["tpm", "packed"],
                "authenticatorSelection": ["authenticatorAttachment": "platform"],
            ]))
        expect(vendor.attachment, is: .platform)
        #expect(roomy.parameters(of: 1)?[10] == 1 && roomy.parameters(of: 1)?[11] == ["tpm", "packed"])
        enterprise.managedRelyingParties = ["example.com"]
        _ = try await enterprise.create(Site.creation(["attestation": "enterprise"]))
        expect(roomy.parameters(of: 1)?[10], is: 2)
        await expect(.constraint) {
            try await TailoredKey.client(.init([:])).create(Site.creation(Self.resident))
        }
    }

    @Test(arguments: [
        (FIDOError.denied, DOMExceptionName.notAllowed), (.full, .notAllowed), (.pinBlocked, .notAllowed),
        (.largeBlobs(.damaged), .unknown), (.unsupported("x"), .notSupported), (.unsupported("plat"), .notAllowed),
        (.verification(.badSignature), .notAllowed), (.ctap(.status(.keepaliveCancel, during: "")), .abort),
        (.ctap(.status(.invalidOption, during: "")), .constraint), (.ctap(.status(.other, during: "")), .unknown),
        (.ctap(.link(.refused(.channelBusy))), .unknown), (.ctap(.link(.device(.cancelled))), .abort),
        (.ctap(.link(.device(.timedOut("x")))), .notAllowed), (.ctap(.link(.device(.removed))), .unknown),
    ])
    func namesErrorsAsBrowsersDo(_ error: FIDOError, _ name: DOMExceptionName) {
        let lifted = WebAuthnError(error)
        #expect(lifted.name == name && lifted.cause == error && !lifted.description.isEmpty)
        expect(name.description, is: name.rawValue)
        #expect(WebAuthnError.noneChosen.cause == nil && !WebAuthnError.noneChosen.description.isEmpty)
        expect(WebAuthnError.json(.init(.malformed, at: 0, "x")).name, is: .syntax)
    }
}
