// SPDX-License-Identifier: Apache-2.0

import Synchronization
import Testing
import YKCrypto
import YKTestSupport
import YKTransport
import YKVirtualKey
import YKWire

@testable import YKFIDO

/// What keys on the market do differently, each in its own way.
struct FirmwareTests {
    /// A key that answers each message as a closure says.
    private func open(
        _ log: ScriptedKey.Log = .init(), interaction: FIDOInteraction = FIDOInteraction(),
        _ answer: @escaping @Sendable ([UInt8]) -> [UInt8]
    ) async throws -> FIDOService {
        let key = ScriptedKey([answer], log: log)
        key.isEndless = true
        return try await FIDOService.open(key, interaction: interaction)
    }

    private static func info(_ changes: (key: CBOR, value: CBOR)...) -> [UInt8] {
        CBOR.map(changes.reduce(Operation.info) { $0.with($1.key, $1.value) }).reply
    }

    @Test("options that are no booleans, and what is not known at all, are passed over and kept")
    func oddOptions() async throws {
        let options: CBOR = ["rk": true, "newThing": 3, "up": false, 7: true]
        let info = try await open { _ in Self.info((4, options), (99, ["x"]), ("vendor", 1)) }.info()
        #expect(info.options.map(\.name) == ["rk", "up"] && info.option(.rk) == true && info.option(.up) == false)
        #expect(info.map[99] == ["x"] && info.map["vendor"] == 1 && info.map[4]?.map?["newThing"] == 3)
    }

    @Test("a later version has the selection command; a key that lacks it all the same is asked in another way")
    func laterVersions() async throws {
        for knows in [true, false] {
            let log = ScriptedKey.Log()
            let service = try await open(log) { message in
                switch message.first {
                case 0x04: Self.info((1, ["FIDO_2_9"]))
                case 0x0B: knows ? [0x00] : [0x01]
                default: [0x35]
                }
            }
            try await service.select()
            expect(log.messages.compactMap(\.first), is: (knows ? [0x04, 0x0B] : [0x04, 0x0B, 0x01]))
        }
    }

    @Test("a name that the key cut off in the middle of a character is read, but not where form is everything")
    func cutName() async throws {
        var reply = CBOR.map(Operation.signed.with(4, ["id": .bytes([1]), "name": "ali\u{7F}"])).reply
        reply[try #require(reply.firstIndex(of: 0x7F))] = 0xC3
        let answer = reply
        let service = try await open { $0.first == 0x04 ? Self.info() : answer }
        let request = AssertionRequest(rpID: "example.com", clientDataHash: hash)
        try await expect(service.assert(request).first?.response.user?.name, is: "ali\u{FFFD}")
        await service.setStrict(true)
        await #expect(throws: FIDOError.self) { try await service.assert(request) }
    }

    @Test("names are sent in 64 bytes at most: some keys refuse longer ones")
    func shortNames() async throws {
        let script = TailoredKey.Script([4: ["rk": true]])
        let client = try await TailoredKey.client(script)
        let long = String(repeating: "a", count: 62) + "ä👩‍👩‍👧bc"
        var options = PublicKeyCredentialCreationOptions(
            rpID: "example.com", rpName: long, user: FIDOUser(id: [1], name: long, displayName: "short"),
            challenge: [1])
        options.user.name = long
        _ = try await client.create(options)
        let sent = try #require(script.parameters(of: 1))
        let short = String(repeating: "a", count: 62) + "ä"
        #expect(sent[2]?.map?["name"]?.text == short && sent[3]?.map?["name"]?.text == short)
        expect(sent[3]?.map?["displayName"]?.text, is: "short")
    }

    @Test("a key that does not say how long its lists may be gets short ones")
    func unsaidListLimit() async throws {
        let list = (2...10).map { CredentialDescriptor(id: [$0]) } + [CredentialDescriptor(id: [1])]
        for (limit, count) in [(nil, 1), (20, 10)] as [(CBOR?, Int)] {
            var info: CBOR.Map = [1: ["FIDO_2_0"]]
            info[7] = limit
            let script = TailoredKey.Script(info)
            let service = try await FIDOService.open(TailoredKey(script))
            let found = try await service.assert(
                AssertionRequest(rpID: "example.com", clientDataHash: hash, allowList: list))
            expect(found.first?.credential.id, is: [1])
            expect(script.parameters(of: 2)?[3]?.array?.count, is: count)
        }
    }

    /// The key finds out only while it makes the credential that there is no room for it.
    @Test(
        "a key without room makes a credential that it does not remember, where it is only preferred that it does",
        arguments: [("preferred", "preferred"), ("preferred", nil), ("required", nil), ("preferred", "required")]
            as [(String, String?)])
    func noRoom(_ residence: String, _ largeBlob: String?) async throws {
        let script = TailoredKey.Script([2: ["largeBlobKey"], 4: ["rk": true]]) { code, parameters in
            code == 1 && parameters[7]?.map?["rk"]?.bool == true ? 0x28 : nil
        }
        let client = try await TailoredKey.client(script)
        let extensions: JSONValue =
            largeBlob.map { ["credProps": true, "largeBlob": ["support": .string($0)]] } ?? ["credProps": true]
        let options = try Site.creation(
            ["authenticatorSelection": ["residentKey": .string(residence)], "attestation": "none"],
            extensions: extensions)
        guard residence == "preferred", largeBlob != "required" else {
            await #expect(throws: WebAuthnError.key(.full)) { try await client.create(options) }
            expect(script.count(of: 1), is: 1)
            return
        }
        let made = try await client.create(options)
        #expect(made.isResident == false && script.count(of: 1) == 2)
        expect(made.clientExtensionResults["credProps"], is: ["rk": false])
        #expect(script.parameters(of: 1)?[7] == nil && script.parameters(of: 1)?[6] == nil)
        if largeBlob != nil { expect(made.clientExtensionResults["largeBlob"], is: ["supported": false]) }
    }

    /// CanoKey refuses to write large blobs without a PIN with 33, and to list credentials with 36; 14 says as much.
    @Test(
        "a key that wants a proof although no PIN is set says that one has to be",
        arguments: [0x33, 0x36, 0x14] as [UInt8])
    func proofWithoutPIN(_ status: UInt8) async throws {
        let log = ScriptedKey.Log()
        let options: CBOR = [
            "clientPin": false, "credMgmt": true, "largeBlobs": true, "authnrCfg": true, "alwaysUv": false,
            "bioEnroll": false,
        ]
        let service = try await open(log) { message in
            switch message.first {
            case 0x04: Self.info((4, options))
            case 0x0C where message[2] == 0x01: CBOR.map([1: .bytes(LargeBlobArray.empty.encoded)]).reply
            default: [status]
            }
        }
        await #expect(throws: FIDOError.pinNotSet) { try await service.credentialStorage() }
        await #expect(throws: FIDOError.pinNotSet) {
            try await service.setLargeBlob([1], key: SharedSecret(Secret([UInt8](repeating: 1, count: 32))))
        }
        await #expect(throws: FIDOError.pinNotSet) { try await service.configure(.toggleAlwaysUV) }
        await #expect(throws: FIDOError.pinNotSet) { try await service.fingerprints() }
        expect(log.tries, is: 0)
        let without = try await open { $0.first == 0x04 ? Self.info((4, ["credMgmt": true])) : [status] }
        let error = await #expect(throws: FIDOError.self) { try await without.credentialStorage() }
        #expect(error != .pinNotSet)
    }

    /// CanoKey gives empty names, and in some versions protection 0, where nothing was asked for.
    @Test("empty names count as absent, and so does a protection of 0")
    func emptyNames() async throws {
        let log = ScriptedKey.Log()
        let key = COSEKey(okp: .ed25519, algorithm: .edDSA, x: .init(repeating: 1, count: 32))
        let service = try await open(log) { message in
            guard message.first == 0x0A else { return Self.info((4, ["credMgmt": true, "clientPin": false])) }
            return CBOR.map([
                6: ["id": .bytes([1]), "name": "", "displayName": ""], 7: ["id": .bytes([2]), "type": "public-key"],
                8: .map(key.map), 9: 1, 10: 0, 3: ["id": "exa…mple.com"], 4: .bytes(hash), 5: 1,
            ]).reply
        }
        let party = try #require(try await service.relyingParties().first)
        let credential = try #require(try await service.credentials(of: party).first)
        #expect(credential.user == FIDOUser(id: [1]) && credential.protection == nil)
        let long = String(repeating: "ä", count: 40)
        try await service.update(credential.id, user: FIDOUser(id: [1], name: long))
        let sent = try CBOR(decoding: Array(try #require(log.messages.last).dropFirst())).map?[2]?.map?[3]?.map
        #expect(sent?["name"]?.text == String(repeating: "ä", count: 32) && sent?["displayName"] == nil)
    }

    /// CanoKey's handles are all of one length, and it says 6700 to others.
    @Test("a key handle of another length is not the key's", arguments: [0x6A80, 0x6700] as [UInt16])
    func foreignHandle(_ word: UInt16) async throws {
        let service = try await open { message in
            message.first == 0x04 ? Self.info() : [UInt8(word >> 8), UInt8(truncatingIfNeeded: word)]
        }
        #expect(try await !service.u2fKnows(keyHandle: [1], applicationHash: hash))
        await #expect(throws: FIDOError.noCredentials) {
            try await service.u2fAuthenticate(challengeHash: hash, applicationHash: hash, keyHandle: [1])
        }
    }

    /// Some versions of CanoKey set the flag for extensions and answer with an empty map where none was asked for.
    @Test("authenticator data with no extensions in their place")
    func emptyExtensions() throws {
        let key = COSEKey(okp: .ed25519, algorithm: .edDSA, x: .init(repeating: 1, count: 32))
        let credential = AuthenticatorData.AttestedCredential(
            aaguid: .init(repeating: 0, count: 16), id: [1], publicKey: key)
        var bytes =
            AuthenticatorData(
                rpIDHash: hash, flags: .userPresent, counter: 1, credential: credential
            ).bytes + [0xA0]
        bytes[32] |= 0x80
        let data = try AuthenticatorData(decoding: bytes)
        #expect(data.extensions?.isEmpty == true && data.credential?.id == [1] && data.bytes == bytes)
    }

    /// CanoKey 3.0 and others make ML-DSA keys, which are too long for some links.
    @Test(
        "a credential of ML-DSA is read, and not believed without a signature",
        arguments: [-48, -49, -50])
    func postQuantum(_ number: Int64) throws {
        let map: CBOR.Map = [1: 7, 3: .int(number), -1: .bytes(.init(repeating: 9, count: 1952))]
        let key = try COSEKey(decoding: CBOR.map(map).encoded)
        expect(key.algorithm, is: COSEAlgorithm(number))
        let credential = AuthenticatorData.AttestedCredential(
            aaguid: .init(repeating: 0, count: 16), id: .init(repeating: 1, count: 70), publicKey: key)
        let data = AuthenticatorData(
            rpIDHash: HashAlgorithm.sha256.hash("example.com".utf8), flags: .userPresent, counter: 1,
            credential: credential)
        let object = AttestationObject(
            format: .packed, authenticatorData: data,
            statement: ["alg": .int(number), "sig": .bytes(.init(repeating: 3, count: 3309))])
        let read = try AttestationObject(decoding: object.encoded)
        #expect(read.authenticatorData.credential?.publicKey == key && read.encoded == object.encoded)
        let response = RegistrationResponse(
            clientDataJSON: nil, attestationObject: read, transports: [], attachment: nil)
        expect(response.json["response"]?["publicKeyAlgorithm"], is: .int(number))
        #expect(throws: VerificationProblem.self) {
            try AttestationVerification(rpID: "example.com").check(read, clientDataHash: hash)
        }
    }

    @Test("a virtual key of CTAP 2.0 that is full")
    func fullKey() async throws {
        var profile = DeviceProfile(serial: 1)
        profile.fido = FIDOFeatures(version: .v20)
        let bench = Bench(key: VirtualKey(try .new(profile)), pins: Bench.PINs("12345"))
        let service = try await bench.open()
        for number in 0..<100 {
            var request = registration()
            request.user.id = [UInt8(truncatingIfNeeded: number), UInt8(truncatingIfNeeded: number >> 8), 1]
            request.isResident = true
            _ = try await service.register(request)
        }
        let client = WebAuthnClient(service: service, origin: try Origin("https://example.com"))
        for (residence, isResident) in [("preferred", false), ("required", nil)] as [(String, Bool?)] {
            let options = try Site.creation(["authenticatorSelection": ["residentKey": .string(residence)]])
            if let isResident {
                try await expect(client.create(options).isResident, is: isResident)
            } else {
                await #expect(throws: WebAuthnError.key(.full)) { try await client.create(options) }
            }
        }
    }

    // MARK: - PIN

    @Test("a PIN that no key can have costs no try")
    func hopelessPINs() async throws {
        let bench = try Bench()
        let service = try await bench.open()
        try await service.setPIN(secret("12345"))
        _ = try await service.info()
        let before = await service.statistics.exchanges
        for (typed, problem) in [
            ("123", PINProblem.tooShort(codePoints: 3, minimum: 4)),
            (String(repeating: "1", count: 64), .tooLong(bytes: 64, maximum: 63)),
        ] {
            await #expect(throws: FIDOError.unsuitablePIN(problem)) { try await service.verifyPIN(secret(typed)) }
            await #expect(throws: FIDOError.unsuitablePIN(problem)) {
                try await service.changePIN(from: secret(typed), to: secret("54321"))
            }
        }
        // Two characters of two bytes each are a PIN for programs that count bytes.
        await expect(service.statistics.exchanges, is: before)
        await #expect(throws: FIDOError.wrongPIN(PINRetries(count: 7))) { try await service.verifyPIN(secret("éé")) }
    }

    /// Two programs on one key: each token makes the other's worthless (CTAP 2.2 §6.5.2.1).
    @Test("a token that has become worthless is replaced, once")
    func worthlessToken() async throws {
        let bench = try Bench(pin: "12345")
        let interaction = FIDOInteraction(pin: { [pins = bench.pins] in pins.give($0) })
        let one = try await FIDOService.open(
            hid: bench.key.reportLink(), environment: .instant, interaction: interaction)
        let two = try await FIDOService.open(
            hid: bench.key.reportLink(), environment: .instant, interaction: interaction)
        try await one.setPIN(secret("12345"))
        _ = try await two.freshInfo()
        var request = registration()
        request.isResident = true
        _ = try await one.register(request)
        try await expect(one.relyingParties().count, is: 1)
        try await expect(one.credentialStorage().existing, is: 1)
        expect(bench.pins.requests.count, is: 2)
        try await expect(two.credentialStorage().existing, is: 1)
        expect(bench.pins.requests.count, is: 3)
        try await expect(one.credentialStorage().existing, is: 1)
        expect(bench.pins.requests.count, is: 4)
        try await two.verifyPIN(secret("12345"), permissions: .config)
        try await one.configure(.toggleAlwaysUV)
        expect(bench.pins.requests.count, is: 5)
        try await expect(one.pinRetries(), is: PINRetries(count: 8))
    }

    @Test("a key that takes no token at all is given up, and gets the PIN once for each that it gave")
    func nothingIsGoodEnough() async throws {
        let log = ScriptedKey.Log()
        let bench = try Bench(pin: "12345")
        let service = try await bench.open()
        try await service.setPIN(secret("12345"))
        let other = try await open(log, interaction: FIDOInteraction(pin: { _ in secret("12345") })) { message in
            switch message.first {
            case 0x04: Self.info((4, ["clientPin": true, "credMgmt": true, "pinUvAuthToken": true]))
            case 0x06 where message.contains(0xA5) || message.count > 60: [0x33]
            case 0x06:
                message.suffix(1) == [0x01] ? CBOR.map([3: 8]).reply : CBOR.map([1: .map(Operation.agreementKey)]).reply
            default: [0x33]
            }
        }
        for _ in 0..<2 {
            let tries = log.tries
            await #expect(throws: FIDOError.self) { try await other.credentialStorage() }
            expect(log.tries, is: tries + 1)
        }
    }

    @Test("a persistent token lists credentials after a loss of power, without the PIN; a new PIN ends it")
    func persistentToken() async throws {
        var profile = DeviceProfile(serial: 1)
        profile.fido = FIDOFeatures(version: .v23)
        let bench = Bench(key: VirtualKey(try .new(profile)), pins: Bench.PINs("12345"))
        let service = try await bench.open()
        try await service.setPIN(secret("12345"))
        var request = registration()
        request.isResident = true
        _ = try await service.register(request)
        let token = try await service.persistentToken()
        await service.rest()
        let link = bench.key.link()
        try link.reset(.cold, deadline: .after(.seconds(1)))
        link.close()

        let kept = try #require(
            FIDOToken(
                token.secret, version: token.version, permissions: .persistentCredentialManagementReadOnly))
        let later = try await FIDOService.open(
            card: CardChannel(link: bench.key.link(), environment: .instant), interaction: FIDOInteraction())
        await later.use(kept)
        let party = try #require(try await later.relyingParties().first)
        let credential = try #require(try await later.credentials(of: party).first)
        try await expect(later.credentialStorage().existing, is: 1)
        try await expect(later.freshInfo().identifier(for: kept)?.count, is: 16)
        await #expect(throws: FIDOError.pinNeeded) { try await later.delete(credential.id) }
        #expect(FIDOToken(secret("short"), version: .two, permissions: nil) == nil)
        #expect(try await later.accepts(kept))
        let usual = try #require(FIDOToken(token.secret, version: token.version, permissions: .credentialManagement))
        #expect(try await !later.accepts(usual), "only a lasting one")

        try await later.changePIN(from: secret("12345"), to: secret("54321"))
        #expect(try await !later.accepts(kept))
        await later.use(kept)
        await #expect(throws: FIDOError.pinNeeded) { try await later.relyingParties() }
    }
}
