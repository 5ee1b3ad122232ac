// SPDX-License-Identifier: Apache-2.0

import Testing
import YKCrypto
import YKFIDO
import YKTestSupport
import YKTransport
import YKVirtualKey
import YKWire

/// Large blobs that credentials store themselves (CTAP 2.3), on a virtual key that has them.
struct DirectLargeBlobTests {
    private func open() async throws -> (VirtualKey, FIDOService) {
        var profile = DeviceProfile(serial: 1)
        profile.fido = FIDOFeatures(version: .v23)
        profile.fido.hasDirectLargeBlobs = true
        let bench = Bench(key: VirtualKey(try .new(profile)), pins: Bench.PINs(nil))
        return (bench.key, try await bench.open())
    }

    private static let blob = [UInt8](repeating: 7, count: 3000)
    private static let required: JSONValue = ["largeBlob": ["support": "required"]]
    private static let resident: JSONValue = ["authenticatorSelection": ["residentKey": "required"]]

    @Test("a site writes a blob and reads it back") func ceremonies() async throws {
        let (key, service) = try await open()
        let info = try await service.info()
        #expect(info.extensions.contains("largeBlob") && !info.extensions.contains("largeBlobKey"))
        #expect(info.option(.largeBlobs) == nil && info.maxLargeBlobArray == nil)
        await #expect(throws: FIDOError.self) { try await service.largeBlobUsage() }
        let client = WebAuthnClient(service: service, origin: try Origin("https://login.example.com"))
        let made = try await client.create(Site.creation(Self.resident, extensions: Self.required))
        expect(made.clientExtensionResults["largeBlob"], is: ["supported": true])
        func ask(_ input: JSONValue) async throws -> JSONValue? {
            try await client.get(Site.request([made.id], extensions: ["largeBlob": input])).first?
                .clientExtensionResults["largeBlob"]
        }
        try await expect(ask(["read": true]), is: [:])
        try await expect(ask(["write": .bytes(Self.blob)]), is: ["written": true])
        try await expect(ask(["read": true])?["blob"], is: .bytes(Self.blob))
        let noise = (0..<22).flatMap { HashAlgorithm.sha256.hash([$0]) }
        try await expect(ask(["write": .bytes(noise)]), is: ["written": false])
        try expect(VirtualKeyState(key.state.json), is: key.state)
        let other = try await client.create(
            Site.creation(
                ["user": ["id": "BA", "name": "b", "displayName": "b"]],
                extensions: ["largeBlob": ["support": "preferred"]]))
        expect(other.clientExtensionResults["largeBlob"], is: ["supported": false])
        let signed = try await client.get(Site.request([other.id], extensions: ["largeBlob": ["write": "AQ"]])).first
        expect(signed?.clientExtensionResults["largeBlob"], is: ["written": false])
    }

    @Test("what the service does for a program") func service() async throws {
        let (_, service) = try await open()
        #expect(try await service.hasDirectLargeBlobs())
        let rp = "example.com"
        var request = registration()
        request.isResident = true
        request.extensions.largeBlob = .required
        let made = try await service.register(request)
        let id = CredentialDescriptor(id: try #require(made.response.authenticatorData.credential?.id))
        try await expect(service.directLargeBlob(of: id, rpID: rp), is: nil)
        try await service.setDirectLargeBlob(Self.blob, of: id, rpID: rp)
        try await expect(service.directLargeBlob(of: id, rpID: rp), is: Self.blob)
        try await expect(service.directLargeBlob(of: id, rpID: rp, requiresPresence: false), is: Self.blob)
        try await service.setDirectLargeBlob([], of: id, rpID: rp)
        try await expect(service.directLargeBlob(of: id, rpID: rp), is: nil)
        let noise = (0..<22).flatMap { HashAlgorithm.sha256.hash([$0]) }
        await #expect(throws: FIDOError.largeBlobs(.notWritten)) {
            try await service.setDirectLargeBlob(noise, of: id, rpID: rp)
        }
        await #expect(throws: FIDOError.noCredentials) {
            try await service.directLargeBlob(of: CredentialDescriptor(id: [1, 2, 3]), rpID: rp)
        }
        let older = try await Bench().open()
        #expect(try await !older.hasDirectLargeBlobs())
        await #expect(throws: FIDOError.unsupported("largeBlob")) {
            try await older.setDirectLargeBlob([1], of: id, rpID: rp)
        }
    }

    @Test("what the client does not send") func refusals() async throws {
        let older = try await Bench().open()
        var request = registration()
        request.extensions.largeBlob = .required
        var assertion = AssertionRequest(rpID: "example.com", clientDataHash: hash)
        assertion.extensions.largeBlob = .write([1])
        let (early, late) = (request, assertion)
        await #expect(throws: FIDOError.unsupported("largeBlob")) { try await older.register(early) }
        await #expect(throws: FIDOError.unsupported("largeBlob")) { try await older.assert(late) }
        let (_, service) = try await open()
        let before = await service.statistics.exchanges
        await #expect(throws: FIDOError.noCredentials) { try await service.assert(late) }
        assertion.extensions.largeBlob = .write([UInt8](repeating: 0, count: 1 << 20 + 1))
        let long = assertion
        await #expect(throws: FIDOError.largeBlobs(.tooLarge(bytes: 1 << 20 + 1, limit: 1 << 20))) {
            try await service.assert(long)
        }
        #expect(await service.statistics.exchanges - before <= 1)
    }

    private static let wrong: [CBOR.Map] = [
        CBOR.Map(), ["read": false], ["read": true, "write": CBOR.bytes([1]), "originalSize": 1],
        ["write": CBOR.bytes([1])],
    ]

    @Test("what the key refuses", arguments: wrong)
    func statuses(_ input: CBOR.Map) async throws {
        let (_, service) = try await open()
        var assertion = AssertionRequest(rpID: "example.com", clientDataHash: hash)
        assertion.extensions.others["largeBlob"] = .map(input)
        let asked = assertion
        await #expect(throws: FIDOError.ctap(.status(.invalidParameter, during: "getAssertion"))) {
            try await service.assert(asked)
        }
        let inputs: [(CBOR.Map, CTAPStatus)] = [
            (CBOR.Map(), .missingParameter), (["support": "maybe"] as CBOR.Map, .invalidParameter),
            (["support": "required"] as CBOR.Map, .invalidOption),
        ]
        for (input, status) in inputs {
            var request = registration()
            request.extensions.others["largeBlob"] = .map(input)
            let wanted = request
            await #expect(throws: FIDOError.ctap(.status(status, during: "makeCredential"))) {
                try await service.register(wanted)
            }
        }
    }

    private static let hostile: [(CBOR.Map, [UInt8]?, Bool)] = [
        (CBOR.Map(), [], false), (["blob": CBOR.bytes([1])], nil, false),
        (["blob": CBOR.bytes([1]), "originalSize": 3], nil, false),
        (["blob": CBOR.bytes([3, 0]), "originalSize": 0], [], true),
        (["blob": CBOR.bytes([3, 0]), "originalSize": CBOR.unsigned(.max)], nil, false),
    ]

    @Test("answers of a hostile key", arguments: hostile)
    func hostileAnswers(_ output: CBOR.Map, _ blob: [UInt8]?, _ isThere: Bool) async throws {
        let info: CBOR.Map = [1: ["FIDO_2_3"], 2: ["largeBlob"], 3: .bytes(.init(repeating: 0, count: 16))]
        let replies = [info, Operation.signed.with(8, ["largeBlob": .map(output)])].map { CBOR.map($0).reply }
        let service = try await FIDOService.open(ScriptedKey(replies))
        var assertion = AssertionRequest(rpID: "example.com", clientDataHash: hash, allowList: [.init(id: [1, 2, 3])])
        assertion.extensions.largeBlob = .read
        let asked = assertion
        guard let blob else {
            await #expect(throws: FIDOError.largeBlobs(.unreadable)) { try await service.assert(asked) }
            return
        }
        let outputs = try #require(try await service.assert(asked).first?.extensions)
        #expect(outputs.largeBlob == (isThere ? blob : nil) && !outputs.wroteLargeBlob)
    }
}
