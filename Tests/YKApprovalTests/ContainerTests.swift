// SPDX-License-Identifier: Apache-2.0

import Testing
import YKCrypto
import YKHTTP
import YKPIV
import YKPrivacyIDEA
import YKTestSupport
import YKTransport
import YKWire

@testable import YKApproval

/// A key that signs another text than it was given.
private struct WrongKey: ApprovalKey {
    let key: SoftwareApprovalKey
    var publicKey: PublicKey { key.publicKey }

    func sign(_ text: [UInt8]) async throws -> [UInt8] { try await key.sign(text + [0]) }
}

/// Containers against a scripted server and the vectors of privacyIDEA.
struct ContainerTests {
    private let vectors: JSONValue

    init() throws { vectors = try OCRATests.vectors("privacyidea") }

    private func key(_ name: String = "container") throws -> SoftwareApprovalKey {
        let pem = try #require(vectors["keys"]?[name]?.string)
        return try SoftwareApprovalKey(der: PrivateKey(pem: Array(pem.utf8), password: nil).der.value)
    }

    private func link(_ change: (String) -> String = { $0 }) throws -> ContainerLink {
        try ContainerLink(
            change(
                "pia://container/SMPH00001234?issuer=privacyIDEA&ttl=10&nonce=5b98f2b3"
                    + "&time=2026-11-22T04%3A30%3A00.000000%2B00%3A00&url=https%3A//pi.example&serial=SMPH00001234"
                    + "&key_algorithm=secp384r1&hash_algorithm=SHA256&ssl_verify=True&passphrase=&send_passphrase=False"
            ))
    }

    private func container(_ tokens: [ContainerAccount.Token] = []) throws -> ContainerAccount {
        let place = ApprovalKeyPlace.piv(
            PIVKeyPlace(slot: .retired(1) ?? .signature, keySerial: 1, policies: KeyPolicies(), attestation: nil))
        var account = ContainerAccount(
            try link(), name: "work", publicKey: try key().publicKey, place: place, model: "PIV", trust: HTTPTrust(),
            added: 1)
        account.tokens = tokens
        return account
    }

    private let challenge = HTTPResponse.value([
        "nonce": "0b4e1f47", "time_stamp": "2026-11-22T04:30:00.000000+00:00", "enc_key_algorithm": "x25519",
    ])

    private func text(_ what: String) throws -> String {
        let found = vectors["container"]?["vectors"]?.array?.first { $0["what"]?.string == what }
        return try #require(found?["text"]?.string)
    }

    /// Whether what was sent is signed over a text.
    private func isSigned(_ sent: JSONValue?, _ text: String) throws -> Bool {
        let signature = try Base64.decode(try #require(sent?["signature"]?.string))
        return try key().publicKey.isValid(signature, for: Array(text.utf8), .sha256)
    }

    @Test func signaturesOfTheVectorsVerify() throws {
        for vector in try #require(vectors["container"]?["vectors"]?.array) {
            #expect(try isSigned(vector, try #require(vector["text"]?.string)))
        }
    }

    @Test func register() async throws {
        let server = ScriptedServer(.value(["success": true]))
        let client = ContainerClient(server, CountingRandom())
        try await client.register(try link(), try key(), model: "PIV", passphrase: nil, HTTPTrust())
        let sent = server.json(0)
        expect(ContainerAccount.registration(try link(), model: "PIV", passphrase: nil), is: (try text("register")))
        #expect(try isSigned(sent, try text("register")))
        expect(sent?["public_client_key"], is: vectors["container"]?["public_client_key"])
        expect(sent?["container_serial"], is: "SMPH00001234")
        expect(sent?["device_brand"], is: "ykit")
        expect(sent?["scope"], is: "https://pi.example/container/register/finalize")
        expect(sent?["passphrase"], is: nil)
        expect(sent?["signature"]?.string?.utf8.count.isMultiple(of: 4), is: true)
        expect(server.requests[0].url.description, is: "https://pi.example/container/register/finalize")
    }

    @Test(arguments: [true, false])
    func passphrase(_ isSent: Bool) async throws {
        let server = ScriptedServer(.value(["success": true]))
        let client = ContainerClient(server, CountingRandom())
        let link = try link {
            $0.replacing(
                "passphrase=&send_passphrase=False",
                with: "passphrase=First%20cat%3F&send_passphrase=\(isSent ? "True" : "False")")
        }
        expect(link.passphrasePrompt, is: "First cat?")
        await #expect(throws: ApprovalError.passphraseNeeded("First cat?")) {
            try await client.register(link, try key(), model: "PIV", passphrase: nil, HTTPTrust())
        }
        let phrase = SharedSecret(Secret(utf8: "Mütze"))
        try await client.register(link, try key(), model: "PIV", passphrase: phrase, HTTPTrust())
        #expect(try isSigned(server.json(0), try text("register") + "|Mütze"))
        expect(server.json(0)?["passphrase"]?.string, is: (isSent ? "Mütze" : nil))
    }

    @Test func otherKeysAreRefused() async throws {
        let server = ScriptedServer()
        let client = ContainerClient(server, CountingRandom())
        await #expect(throws: ApprovalError.self) {
            try await client.register(try link(), try key("device"), model: "PIV", passphrase: nil, HTTPTrust())
        }
        await #expect(throws: ApprovalError.wrongKey("work")) {
            try await client.terminate(try container(), try key("device"))
        }
        #expect(server.requests.isEmpty)
        let wrong = WrongKey(key: try key())
        let other = ContainerClient(ScriptedServer(challenge), CountingRandom())
        await #expect(throws: ApprovalError.possession) { try await other.terminate(try container(), wrong) }
    }

    /// The encrypted answer of the vectors, for the private number 0, 1, 2 … 31.
    private var encrypted: JSONValue {
        let vector = vectors["container"]?["encryption"]
        return [
            "public_server_key": vector?["public_server_key"] ?? .null,
            "container_dict_server": vector?["container_dict_server"] ?? .null, "encryption_algorithm": "AES",
            "encryption_params": [
                "algorithm": "AES", "mode": "GCM", "init_vector": vector?["init_vector"] ?? .null,
                "tag": vector?["tag"] ?? .null,
            ],
        ]
    }

    @Test func synchronize() async throws {
        let server = ScriptedServer(challenge, .value(encrypted))
        let client = ContainerClient(server, CountingRandom())
        let update = try await client.synchronize(try container(), try key())
        #expect(try update.links().isEmpty)
        #expect(try update.confirmed().isEmpty)
        let plain = update.plaintext.value.copyBytes()
        expect(String(decoding: plain, as: UTF8.self), is: vectors["container"]?["encryption"]?["plain"]?.string)
        expect(server.json(0)?["scope"], is: "https://pi.example/container/synchronize")
        let sent = server.json(1)
        expect(sent?["public_enc_key_client"], is: vectors["container"]?["encryption"]?["public_enc_key_client"])
        let list = try #require(sent?["container_dict_client"]?.string)
        let parts = try text("synchronize").split(separator: "|")
        try expect(JSONValue(parsing: Array(list.utf8)), is: JSONValue(parsing: Array(parts[5].utf8)))
        #expect(try isSigned(sent, parts[0..<5].joined(separator: "|") + "|" + list))
    }

    @Test func tokensThatAreHeldAreReported() async throws {
        let server = ScriptedServer(challenge, .value(encrypted))
        let client = ContainerClient(server, CountingRandom())
        let held = [ContainerAccount.Token(serial: "TOTP1", type: "TOTP")]
        _ = try await client.synchronize(try container(held), try key())
        let list = try #require(server.json(1)?["container_dict_client"]?.string)
        try expect(
            JSONValue(parsing: Array(list.utf8))["tokens"], is: [["serial": "TOTP1", "tokentype": "TOTP"]])
    }

    @Test(arguments: ["public_server_key", "container_dict_server", "encryption_params", "encryption_algorithm"])
    func changedContentIsRefused(_ name: String) async throws {
        var object = try #require(encrypted.object)
        object[name] = object[name]?.string.map { .string(String($0.dropLast(8)) + "AAAAAAA=") } ?? .null
        let server = ScriptedServer(challenge, .value(.object(object)))
        await #expect(throws: ApprovalError.self) {
            try await ContainerClient(server, CountingRandom()).synchronize(try container(), try key())
        }
    }

    @Test func updates() throws {
        func update(_ text: String) throws -> ContainerUpdate {
            try ContainerUpdate(SharedSecret(Secret(utf8: text)))
        }
        let good = try update(
            #"{"tokens":{"add":["otpauth://totp/T1?secret=AA"],"update":[{"serial":"T2","tokentype":"HOTP"}]}}"#)
        try expect(good.links(), is: ["otpauth://totp/T1?secret=AA"])
        try expect(good.confirmed(), is: [ContainerAccount.Token(serial: "T2", type: "hotp")])
        for text in [
            "", "{}", #"{"tokens":{}}"#, #"{"tokens":{"add":[1]}}"#, #"{"tokens":{"add":[],"update":[{}]}}"#,
            #"{"tokens":{"add":[],"update":[{"serial":"a|b"}]}}"#,
        ] {
            #expect(throws: ApprovalError.self) { try update(text) }
        }
    }

    @Test func rolloverAndLeaving() async throws {
        let flow = try RecordedFlow("31-container-move")
        let answer = try flow.answer("old key asks")
        let value = try JSONValue(parsing: answer.body)["result"]?["value"]?["container_url"]?["value"]?.string
        let url = try #require(value)
        // The recorded server is another one than the account's.
        let other = ContainerClient(ScriptedServer(challenge, answer), CountingRandom())
        await #expect(throws: ApprovalError.self) { try await other.rollover(try container(), try key()) }
        let mine = url.replacing("https%3A//localhost%3A34157", with: "https%3A//pi.example")
            .replacing("SMPH0000417C", with: "SMPH00001234")
        let server = ScriptedServer(challenge, .value(["container_url": ["value": .string(mine)]]))
        let link = try await ContainerClient(server, CountingRandom()).rollover(try container(), try key())
        expect(link, is: mine)
        #expect(
            try isSigned(
                server.json(1),
                "0b4e1f47|2026-11-22T04:30:00.000000+00:00|SMPH00001234|https://pi.example/container/rollover"))
        let none = ContainerClient(ScriptedServer(challenge, .value([:])), CountingRandom())
        await #expect(throws: ApprovalError.self) { try await none.rollover(try container(), try key()) }

        let leaving = ScriptedServer(challenge, .value(["success": true]), challenge, .refusal(3002))
        let client = ContainerClient(leaving, CountingRandom())
        try await client.terminate(try container(), try key())
        let scope = "https://pi.example/container/register/terminate/client"
        #expect(
            try isSigned(leaving.json(1), "0b4e1f47|2026-11-22T04:30:00.000000+00:00|SMPH00001234|" + scope))
        await #expect(throws: ApprovalError.server(.refused(status: 400, code: 3002, message: "ERR3002: no"))) {
            try await client.terminate(try container(), try key())
        }
    }

    @Test func checking() async throws {
        let server = ScriptedServer(challenge, .refusal(3001))
        let client = ContainerClient(server, CountingRandom())
        try await client.check(try container())
        expect(server.json(0)?["scope"], is: "https://pi.example/container/rollover")
        expect(server.requests.count, is: 1)
        await #expect(throws: ApprovalError.server(.refused(status: 400, code: 3001, message: "ERR3001: no"))) {
            try await client.check(try container())
        }
    }

    @Test func whatIsLeftOfAnUpdate() throws {
        let links = ["otpauth://totp/T1?secret=AA", "pia://pipush/x?y=\"z\""]
        try expect(ContainerUpdate(links: links).links(), is: links)
        #expect(try ContainerUpdate(links: []).confirmed().isEmpty)
        #expect(throws: ApprovalError.self) {
            try ContainerUpdate(links: [String(repeating: "x", count: 4097)])
        }
    }

    @Test func challengesThatAreNone() async throws {
        for value: JSONValue in [
            [:], ["nonce": "1|2", "time_stamp": "t"],
            ["nonce": "1", "time_stamp": "t", "enc_key_algorithm": "rot13"],
        ] {
            let client = ContainerClient(ScriptedServer(.value(value)), CountingRandom())
            await #expect(throws: ApprovalError.self) { try await client.terminate(try container(), try key()) }
        }
        let client = ContainerClient(ScriptedServer(challenge), FailingRandom())
        await #expect(throws: ApprovalError.random) { try await client.synchronize(try container(), try key()) }
    }

    @Test func stored() throws {
        let account = try container([ContainerAccount.Token(serial: "T1", type: "totp")])
        let read = try #require(ContainerAccount(account.stored))
        expect(read.stored, is: account.stored)
        expect(read.tokens, is: account.tokens)
        expect(read.publicKey, is: account.publicKey)
        expect(account.account.id, is: "SMPH00001234@pi.example")
        for name in ["url", "model", "publicKey", "key", "trust", "tokens"] {
            var stored = account.stored
            stored.details[name] = nil
            expect(ContainerAccount(stored), is: nil, "\(name)")
        }
        var stored = account.stored
        stored.details["tokens"] = [["serial": "a|b", "type": "totp"]]
        expect(ContainerAccount(stored), is: nil)
    }

    @Test(
        arguments: [
            ("pia://", "otpauth://"), ("/container/", "/x/"), ("secp384r1", "secp256r1"), ("SHA256", "SHA1"),
            ("nonce=5b98f2b3", "nonce="), ("&serial=SMPH00001234", "&serial=OTHER"), ("serial=S", "serial=%7C"),
            ("url=https", "url=ftp"), ("url=https%3A//pi", "url=https%3A//a%7Cpi"), ("False", "Maybe"),
            ("nonce=5b98f2b3", "nonce=a%7Cb"), ("key_algorithm=secp384r1&", ""),
        ])
    func badLinks(_ part: String, _ other: String) {
        #expect(throws: ApprovalError.self) { try link { $0.replacing(part, with: other) } }
    }

    @Test func sslverifyIsNotObeyed() throws {
        #expect(try link { $0.replacing("ssl_verify=True", with: "ssl_verify=False") }.asksForNoVerification)
        #expect(try !link().asksForNoVerification)
    }
}
