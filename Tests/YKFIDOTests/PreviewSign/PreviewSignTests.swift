// SPDX-License-Identifier: Apache-2.0

import Testing
import YKCrypto
import YKFIDO
import YKTestSupport
import YKTransport
import YKWire

/// previewSign on a virtual key of firmware 5.8.
struct PreviewSignTests {
    private static let message: [UInt8] = Array("a message".utf8)
    private static let digest = HashAlgorithm.sha256.hash(message)

    private func open(pin: String? = nil) async throws -> FIDOService {
        let service = try await Bench(pin: pin, version: FirmwareVersion(5, 8, 0)).open()
        if let pin { try await service.setPIN(secret(pin)) }
        return service
    }

    private func made(
        _ service: FIDOService, _ policy: PreviewSign.Policy = .presence
    ) async throws -> (credential: [UInt8], key: PreviewSign.GeneratedKey) {
        var request = registration()
        request.extensions.signingKey = PreviewSign.Request(policy: policy)
        let made = try await service.register(request)
        let id = try #require(made.response.authenticatorData.credential?.id)
        return (id, try #require(made.extensions.signingKey))
    }

    private func derived(_ key: PreviewSign.GeneratedKey) throws -> PreviewSign.DerivedKey {
        try PreviewSign.Seed(key.publicKey).derive(
            Secret([UInt8](repeating: 3, count: 32)), context: Array("test".utf8))
    }

    private func assertion(_ credential: [UInt8], _ input: CBOR.Map?, presence: Bool = true) -> AssertionRequest {
        var request = AssertionRequest(
            rpID: "example.com", clientDataHash: hash, allowList: [CredentialDescriptor(id: credential)])
        request.requiresPresence = presence
        request.userVerification = .discouraged
        request.extensions.others["previewSign"] = input.map(CBOR.map)
        return request
    }

    @Test("a key is made, attested, and signs", arguments: [PreviewSign.Policy.unattended, .presence, .verification])
    func signs(_ policy: PreviewSign.Policy) async throws {
        let service = try await open(pin: "12345")
        let (credential, key) = try await made(service, policy)
        #expect(key.algorithm == .esp256SplitARKG && key.policy == policy && key.keyHandle != credential)
        let trust = try AttestationVerification(rpID: "example.com").check(key, clientDataHash: hash)
        guard case .certificates = trust else { throw VerificationProblem.untrusted }
        #expect(key.attestationObject.authenticatorData.counter == 0)
        let derived = try derived(key)
        var request = assertion(credential, nil, presence: policy != .unattended)
        request.allowList.insert(CredentialDescriptor(id: [9]), at: 0)
        if policy == .verification { request.userVerification = .required }
        request.extensions.signing[credential] = try PreviewSign.Input(
            keyHandle: key.keyHandle, toBeSigned: Self.digest, arguments: derived.arguments.encoded)
        let wanted = request
        let signature = try #require(try await service.assert(wanted).first?.extensions.signature)
        try derived.publicKey.verify(signature, over: Self.message)
        let (_, other) = try await made(service, policy)
        #expect(throws: VerificationProblem.badSignature) {
            try self.derived(other).publicKey.verify(signature, over: Self.message)
        }
    }

    @Test("a key attested by another challenge, or for another site") func attestations() async throws {
        let (_, key) = try await made(open())
        let check = AttestationVerification(rpID: "example.com")
        #expect(throws: VerificationProblem.badSignature) { try check.check(key, clientDataHash: [1]) }
        #expect(throws: VerificationProblem.otherRelyingParty) {
            try AttestationVerification(rpID: "example.org").check(key, clientDataHash: hash)
        }
        #expect(throws: VerificationProblem.self) {
            try check.check(key.attestationObject, clientDataHash: hash)  // As a credential it verifies nothing.
        }
    }

    @Test(
        "what the key refuses when it makes a key",
        arguments: [
            ([3: [-18], 4: 1], 0x26), ([3: [-65539], 4: 2], 0x2C), ([3: [-65539], 4: 4], 0x2C),
            ([3: [-65539], 4: 256], 0x2C),
            ([4: 1], 0x2C), ([3: [-9, -7, -300, -65539]], nil),
        ] as [(CBOR.Map, UInt8?)])
    func refusesToMake(_ input: CBOR.Map, _ status: UInt8?) async throws {
        let service = try await open()
        var request = registration()
        request.extensions.others["previewSign"] = .map(input)
        try await expect(status) { [request] in _ = try await service.register(request) }
    }

    @Test("what the key refuses to sign") func refusesToSign() async throws {
        let service = try await open()
        let (credential, key) = try await made(service, .unattended)
        let arguments = try derived(key).arguments
        let good: CBOR.Map = [
            2: .bytes(key.keyHandle), 6: .bytes(Self.digest), 7: .bytes(arguments.encoded),
        ]
        func with(_ number: CBOR, _ value: CBOR?) -> CBOR {
            var map = arguments.map
            map[number] = value
            return .bytes(CBOR.map(map).encoded)
        }
        for (number, value, status) in [
            (2, nil, 0x2C), (6, nil, 0x2C), (7, nil, 0x14), (7, with(3, nil), 0x22), (7, with(3, -65538), 0x22),
            (7, with(-1, .bytes([1])), 0x22), (7, with(-2, .bytes([1])), 0x22), (7, with(42, 1337), nil),
            (7, .bytes([1]), 0x11), (6, .bytes([1]), 0x03), (2, .bytes(credential), 0x22),
            (2, .bytes([]), 0x22),
        ] as [(CBOR, CBOR?, UInt8?)] {
            var input = good
            input[number] = value
            let request = assertion(credential, input, presence: false)
            try await expect(status) { _ = try await service.assert(request) }
        }
        var discoverable = assertion(credential, good)
        discoverable.allowList = []
        try await expect(0x2C) { [discoverable] in _ = try await service.assert(discoverable) }
    }

    @Test("what the key requires of its user") func requires() async throws {
        let service = try await open()
        for (policy, presence, status) in [
            (PreviewSign.Policy.presence, false, 0x3B), (.verification, true, 0x36), (.presence, true, nil),
        ] as [(PreviewSign.Policy, Bool, UInt8?)] {
            let (credential, key) = try await made(service, policy)
            let input: CBOR.Map = [
                2: .bytes(key.keyHandle), 6: .bytes(Self.digest), 7: .bytes(try derived(key).arguments.encoded),
            ]
            let request = assertion(credential, input, presence: presence)
            try await expect(status) { _ = try await service.assert(request) }
        }
    }

    @Test("firmware before 5.8, and U2F, have none") func olderKeys() async throws {
        let service = try await Bench().open()
        var request = registration()
        request.extensions.signingKey = PreviewSign.Request()
        let input = try PreviewSign.Input(keyHandle: [1], toBeSigned: [])
        var assertion = AssertionRequest(rpID: "example.com", clientDataHash: hash, allowList: [.init(id: [1])])
        assertion.extensions.signing = [[1]: input]
        for usesU2F in [false, true] {
            request.usesU2F = usesU2F
            assertion.usesU2F = usesU2F
            let (early, late) = (request, assertion)
            await #expect(throws: FIDOError.unsupported("previewSign")) { try await service.register(early) }
            await #expect(throws: FIDOError.unsupported("previewSign")) { try await service.assert(late) }
        }
    }

    @Test(
        "inputs that no key can sign",
        arguments: [
            ([], digest, nil), ([1], digest, []), ([1], digest, [0xA0]),
            ([1], digest, [0xA1, 0x03, 0x3A, 0x00, 0x01, 0x00, 0x02]),
            ([1], [1], PreviewSign.Arguments(keyHandle: .init(repeating: 4, count: 81), context: []).encoded),
            ([1], digest, PreviewSign.Arguments(keyHandle: .init(repeating: 4, count: 80), context: []).encoded),
            (
                [1], digest,
                PreviewSign.Arguments(
                    keyHandle: .init(repeating: 4, count: 81), context: .init(repeating: 1, count: 65)
                ).encoded
            ),
        ] as [([UInt8], [UInt8], [UInt8]?)])
    func refusesInputs(_ handle: [UInt8], _ message: [UInt8], _ arguments: [UInt8]?) {
        #expect(throws: WireError.self) {
            try PreviewSign.Input(keyHandle: handle, toBeSigned: message, arguments: arguments)
        }
    }

    @Test("answers of a hostile key") func hostileAnswers() async throws {
        let (_, key) = try await made(open())
        let object = key.attestationObject
        func attestation(_ data: AuthenticatorData) -> CBOR {
            .bytes(
                CBOR.map([1: "packed", 2: .bytes(data.bytes), 3: .map(object.statement)]).encoded)
        }
        let data = object.authenticatorData
        let elsewhere = AuthenticatorData(
            rpIDHash: [UInt8](repeating: 1, count: 32), flags: .userPresent, counter: 0, credential: data.credential)
        let point = AuthenticatorData.AttestedCredential(
            aaguid: .init(repeating: 0, count: 16), id: [1],
            publicKey: COSEKey(
                ec2: .p256, algorithm: .esp256, x: .init(repeating: 1, count: 32), y: .init(repeating: 1, count: 32)))
        let noSeed = AuthenticatorData(rpIDHash: data.rpIDHash, flags: .userPresent, counter: 0, credential: point)
        let noKey = AuthenticatorData(rpIDHash: data.rpIDHash, flags: .userPresent, counter: 0)
        for (signed, unsigned, isGood) in [
            ([3: -65539], [7: attestation(data)], true), ([3: -9], [7: attestation(data)], false),
            ([:], [7: attestation(data)], false), ([3: -65539], [:], false), ([3: -65539], [7: .bytes([])], false),
            ([3: -65539], [7: .bytes([0xA0])], false), ([3: -65539], [7: attestation(elsewhere)], false),
            ([3: -65539], [7: attestation(noSeed)], false), ([3: -65539], [7: attestation(noKey)], false),
        ] as [(CBOR.Map, CBOR.Map, Bool)] {
            let outer = AuthenticatorData(
                rpIDHash: data.rpIDHash, flags: .userPresent, counter: 1, credential: Self.credential,
                extensions: ["previewSign": .map(signed)])
            let replies: [CBOR.Map] = [
                [1: ["FIDO_2_3"], 2: ["previewSign"], 3: .bytes(.init(repeating: 0, count: 16))],
                [1: "packed", 2: .bytes(outer.bytes), 3: [:], 6: ["previewSign": .map(unsigned)]],
            ]
            let service = try await FIDOService.open(ScriptedKey(replies.map { CBOR.map($0).reply }))
            var request = registration()
            request.extensions.signingKey = PreviewSign.Request()
            let wanted = request
            if isGood {
                #expect(try await service.register(wanted).extensions.signingKey == key)
            } else {
                await #expect(throws: FIDOError.self) { try await service.register(wanted) }
            }
        }
    }

    private static let credential = AuthenticatorData.AttestedCredential(
        aaguid: .init(repeating: 0, count: 16), id: [1, 2],
        publicKey: COSEKey(okp: .ed25519, algorithm: .edDSA, x: .init(repeating: 1, count: 32)))

    /// Expects a key to refuse with a status, or not at all.
    private func expect(
        _ status: UInt8?, _ location: SourceLocation = #_sourceLocation, _ body: () async throws -> Void
    ) async throws {
        guard let status else { return try await body() }
        do {
            try await body()
            Issue.record("no error", sourceLocation: location)
        } catch FIDOError.ctap(.status(let found, _)) {
            #expect(found.rawValue == status, sourceLocation: location)
        } catch FIDOError.pinNeeded {
            #expect(status == 0x36, sourceLocation: location)
        }
    }
}

/// WebAuthn's JSON for previewSign.
struct PreviewSignExtensionTests {
    private func client(pin: String? = nil) async throws -> WebAuthnClient {
        let service = try await Bench(pin: pin, version: FirmwareVersion(5, 8, 0)).open()
        if let pin { try await service.setPIN(secret(pin)) }
        return WebAuthnClient(service: service, origin: try Origin("https://login.example.com"))
    }

    private static let generate: JSONValue = ["previewSign": ["generateKey": ["algorithms": [-9, -65539]]]]

    @Test("a ceremony of each kind", arguments: ["required", "preferred"])
    func ceremonies(_ verification: String) async throws {
        let client = try await client(pin: "12345")
        let made = try await client.create(
            Site.creation(
                ["authenticatorSelection": ["userVerification": .string(verification)]], extensions: Self.generate))
        let key = try #require(try PreviewSign.GeneratedKey(results: made.clientExtensionResults))
        expect(key.policy, is: (verification == "required" ? .verification : .presence))
        let output = made.clientExtensionResults["previewSign"]?["generatedKey"]
        expect(output?["algorithm"], is: -65539)
        let derived = try PreviewSign.Seed(key.publicKey).derive(
            Secret([UInt8](repeating: 1, count: 32)), context: [])
        var table = JSONValue.Object()
        table[Base64.encodeURL(made.id)] = [
            "keyHandle": .bytes(key.keyHandle), "tbs": .bytes(HashAlgorithm.sha256.hash([1])),
            "additionalArgs": .bytes(derived.arguments.encoded),
        ]
        let signed = try #require(
            try await client.get(
                Site.request(
                    [made.id], ["userVerification": .string(verification)],
                    extensions: ["previewSign": ["signByCredential": .object(table)]])
            ).first)
        let text = try #require(signed.clientExtensionResults["previewSign"]?["signature"]?.string)
        try derived.publicKey.verify(try Base64.decode(text), over: [1])
    }

    @Test("without attestation, that of the key is removed too") func conveysNoAttestation() async throws {
        let made = try await client().create(Site.creation(["attestation": "none"], extensions: Self.generate))
        let key = try #require(try PreviewSign.GeneratedKey(results: made.clientExtensionResults))
        #expect(key.attestationObject.format == .none && key.attestationObject.statement.isEmpty)
    }

    @Test("inputs are refused before anything is sent") func refusesInputs() async throws {
        let client = try await client()
        let before = await client.service.statistics.exchanges
        for (name, input) in [
            (.notSupported, ["signByCredential": ["AQ": [:]]]), (.type, [:]), (.type, ["generateKey": [:]]),
            (.type, ["generateKey": ["algorithms": []]]), (.type, ["generateKey": ["algorithms": ["ES256"]]]),
            (.type, 1),
        ] as [(DOMExceptionName, JSONValue)] {
            await expect(name) { try await client.create(Site.creation([:], extensions: ["previewSign": input])) }
        }
        let one: JSONValue = ["keyHandle": "AQ", "tbs": "AQ"]
        for (name, allowed, input) in [
            (.notSupported, [[1]], ["generateKey": ["algorithms": [-9]]]), (.type, [[1]], [:]),
            (.notSupported, [], ["signByCredential": ["AQ": one]]),
            (.syntax, [[1], [2]], ["signByCredential": ["AQ": one]]),
            (.syntax, [[1]], ["signByCredential": ["AQ": one, "Ag": one]]),
            (.syntax, [[1]], ["signByCredential": ["*": one]]),
            (.syntax, [[1]], ["signByCredential": ["AQ": one, "AQ==": one]]),
            (.type, [[1]], ["signByCredential": ["AQ": [:]]]),
            (.type, [[1]], ["signByCredential": ["AQ": ["keyHandle": "", "tbs": "AQ"]]]),
            (.type, [[1]], ["signByCredential": ["AQ": ["keyHandle": "AQ"]]]),
            (.type, [[1]], ["signByCredential": ["AQ": ["keyHandle": "AQ", "tbs": "AQ", "additionalArgs": "AQ"]]]),
        ] as [(DOMExceptionName, [[UInt8]], JSONValue)] {
            await expect(name) {
                try await client.get(Site.request(allowed, extensions: ["previewSign": input]))
            }
        }
        await expect(client.service.statistics.exchanges, is: before)
    }

    @Test("a key without it ignores it") func ignored() async throws {
        let site = try await Site()
        let made = try await site.client.create(Site.creation([:], extensions: Self.generate))
        expect(made.clientExtensionResults["previewSign"], is: nil)
        try expect(PreviewSign.GeneratedKey(results: made.clientExtensionResults), is: nil)
        var table = JSONValue.Object()
        table[Base64.encodeURL(made.id)] = ["keyHandle": "AQ", "tbs": "AQ"]
        let signed = try await site.client.get(
            Site.request([made.id], extensions: ["previewSign": ["signByCredential": .object(table)]]))
        expect(signed.first?.clientExtensionResults["previewSign"], is: nil)
    }

    @Test("results that contradict the attestation") func contradictions() async throws {
        let made = try await client().create(Site.creation([:], extensions: Self.generate))
        let good = try #require(made.clientExtensionResults["previewSign"]?["generatedKey"]?.object)
        for (member, value) in [
            ("keyHandle", "AQ"), ("publicKey", "AQ"), ("attestationObject", "AQ"), ("algorithm", "x"),
            ("attestationObject", .bytes(made.attestationObjectBytes)),
        ] as [(String, JSONValue)] {
            var results = good
            results[member] = value
            await expect(.type) {
                try PreviewSign.GeneratedKey(
                    results: JSONValue.Object([("previewSign", ["generatedKey": .object(results)])]))
            }
        }
    }

    @Test("files of signing keys and derived keys") func files() async throws {
        let made = try await client().create(Site.creation([:], extensions: Self.generate))
        let file = try PreviewSign.KeyFile(made, rpID: "example.com")
        let copy = try PreviewSign.KeyFile(json: Array(file.json.text.utf8))
        #expect(copy.key == file.key && copy.registration == made && copy.rpID == "example.com")
        let derived = try PreviewSign.Seed(file.key.publicKey).derive(
            Secret([UInt8](repeating: 1, count: 32)), context: [1])
        try expect(PreviewSign.DerivedKey(json: Array(derived.json.text.utf8)), is: derived)
        for (text, names) in [
            ("", "not JSON"), ("[]", "expected object"), (#"{"credential":{},"rpId":"x"}"#, "id"),
            ("{\"credential\":\(Self.plain.json.text),\"rpId\":\"x\"}", "it has no signing key"),
            ("{\"credential\":\(made.json.text)}", "rpId"),
        ] {
            let error = #expect(throws: FormatError.self) { try PreviewSign.KeyFile(json: Array(text.utf8)) }
            expect(error?.description.contains(names), is: true, "\(String(describing: error))")
        }
        for (text, names) in [
            ("{}", "additionalArgs"), (#"{"additionalArgs":"AQ"}"#, "additionalArgs"),
            (
                "{\"additionalArgs\":\"\(Base64.encodeURL(derived.arguments.encoded))\",\"publicKey\":\"x\"}",
                "publicKey"
            ),
        ] {
            let error = #expect(throws: FormatError.self) { try PreviewSign.DerivedKey(json: Array(text.utf8)) }
            expect(error?.description.contains(names), is: true, "\(String(describing: error))")
        }
        #expect(throws: WebAuthnError.key(.unsupported("previewSign"))) {
            try PreviewSign.KeyFile(Self.plain, rpID: "x")
        }
    }

    /// A registration without a signing key.
    private static let plain = RegistrationResponse(
        clientDataJSON: [],
        attestationObject: AttestationObject(
            format: .none,
            authenticatorData: AuthenticatorData(
                rpIDHash: hash, flags: .userPresent, counter: 0,
                credential: AuthenticatorData.AttestedCredential(
                    aaguid: .init(repeating: 0, count: 16), id: [1],
                    publicKey: COSEKey(okp: .ed25519, algorithm: .edDSA, x: .init(repeating: 1, count: 32)))),
            statement: [:]), transports: [], attachment: nil)
}
