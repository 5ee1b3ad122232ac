// SPDX-License-Identifier: Apache-2.0

import Testing
import YKCrypto
import YKHTTP
import YKOATH
import YKPIV
import YKTestSupport
import YKTransport
import YKVirtualKey
import YKWire

@testable import YKApproval

/// Flows 11 to 14, 22, 27 and 31 without the server: what was accepted or refused then is what is made now.
struct RecordedFlowTests {
    /// An OATH application in software.
    private func oath() async throws -> OATHService {
        let key = try VirtualKey.new()
        return try await OATHService.open(CardChannel(link: key.link(), environment: ServiceEnvironment()))
    }

    private func link(_ flow: RecordedFlow, _ note: String) throws -> CodeLink {
        let body = try JSONValue(parsing: try flow.answer(note).body)
        return try CodeLink(try #require(body["detail"]?["googleurl"]?["value"]?.string))
    }

    /// The code that was sent after the token's PIN `p`, and when the server answered.
    private func sent(_ flow: RecordedFlow, _ note: String) throws -> (code: String, time: Int64) {
        let pass = try #require(try flow.sent(note)["pass"]?.string)
        let time = try #require(try JSONValue(parsing: try flow.answer(note).body)["time"]?.number)
        return (String(pass.dropFirst()), Int64(time))
    }

    @Test func ocra() throws {
        let flow = try RecordedFlow("11-ocra")
        let token = try flow.sent("enrol with a known seed")
        let suite = try OCRASuite(try #require(token["ocrasuite"]?.string))
        let seed = try Hex.decode(try #require(token["otpkey"]?.string))
        let text = try #require(try flow.sent("challenge from data")["challenge"]?.string)
        let question = Hex.encode(HashAlgorithm.sha1.hash(Array(text.utf8)))
        #expect(try flow.value("challenge").string == question)
        #expect(try suite.response(Secret(seed), OCRAInput(question)) == (try flow.sent("answer")["pass"]?.string))
    }

    @Test(arguments: [
        ("code of the OATH applet", 0), ("90 s ahead", 90), ("60 s ahead, after", 60), ("400 s ahead", 400),
    ])
    func totp(_ note: String, _ ahead: Int64) async throws {
        let flow = try RecordedFlow("12-totp")
        let account = try link(flow, "server makes the seed").account
        let oath = try await oath()
        try await oath.put(account)
        let step = try #require(flow.steps.first { $0["note"]?.string?.hasPrefix(note) == true }?["note"]?.string)
        let (code, time) = try sent(flow, step)
        // The client made it some seconds before the server answered.
        var codes: [String] = []
        for early in 0..<5 { codes.append(try await oath.code(for: account.id, at: time + ahead - Int64(early)).text) }
        #expect(codes.contains(code), "\(note): \(code) is not of \(codes)")
    }

    @Test(arguments: [("sha256 8 digits", OATHAlgorithm.sha256, 8), ("sha512 6 digits", .sha512, 6)])
    func otherHashes(_ note: String, _ algorithm: OATHAlgorithm, _ digits: Int) throws {
        let account = try link(try RecordedFlow("12-totp"), note).account
        #expect(account.algorithm == algorithm && account.digits == digits && account.id.period == .seconds(60))
    }

    @Test func hotp() async throws {
        let flow = try RecordedFlow("13-hotp")
        let account = try link(flow, "known seed").account
        #expect(account.counter == 1)
        let oath = try await oath()
        try await oath.put(account)
        var codes: [String] = []
        for _ in 1...20 { codes.append(try await oath.code(for: account.id).text) }
        for counter in [4, 5, 20] {
            let (code, _) = try sent(flow, "counter \(counter)")
            #expect(codes[counter - 1] == code)
        }
    }

    /// Flow 27: the hashes that a computer was given are those of the key's next codes.
    @Test func offlineCodes() async throws {
        let flow = try RecordedFlow("27-offline")
        let enrolment = try #require(flow.steps.first)
        let account = try CodeLink(
            try #require(enrolment["response"]?["body"]?["detail"]?["googleurl"]?["value"]?.string)
        ).account
        let oath = try await oath()
        try await oath.put(account)
        var codes: [Int: String] = [:]
        for counter in Int(account.counter)...8 { codes[counter] = try await oath.code(for: account.id).text }
        #expect(try flow.sent("log in")["pass"]?.string == codes[1].map { "p" + $0 })
        var checked = 0
        for note in ["log in", "refill"] {
            let items = try JSONValue(parsing: try flow.answer(note).body)["auth_items"]?["offline"]?.array?.first
            for (counter, stored) in try #require(items?["response"]?.object).members.map({ ($0.key, $0.value) }) {
                let parts = try #require(stored.string).split(separator: "$").map(String.init)
                let (rounds, salt, hash) = (try #require(Int(parts[1])), parts[2], parts[3])
                let code = try #require(Int(counter).flatMap { codes[$0] })
                let made = try HashAlgorithm.sha512.pbkdf2(
                    Secret(utf8: "p" + code), salt: try decoded(salt), rounds: rounds, length: 64)
                #expect(made.copyBytes() == (try decoded(hash)), "\(note): code \(counter)")
                checked += 1
            }
        }
        #expect(checked == 7)
    }

    /// Base64 with a dot for the plus sign, as passlib writes it.
    private func decoded(_ text: String) throws -> [UInt8] {
        try Base64.decode(text.replacing(".", with: "+"))
    }

    @Test func twoSteps() async throws {
        let flow = try RecordedFlow("14-twostep")
        let link = try link(flow, "step 1")
        let step = try #require(link.twoStep)
        let part = try step.part(CountingRandom())
        #expect(TwoStep.shown(part.value) == (try flow.value("shown").string))
        let typed = try flow.sent("step 2: what the device shows is typed in")["otpkey"]?.string
        #expect(TwoStep.shown(part.value) == typed)
        let seed = try step.secret(server: link.account.secret.value, part: part.value)
        let oath = try await oath()
        let account = NewOATHAccount(id: link.account.id, secret: Secret(seed.value.copyBytes()))
        try await oath.put(account)
        let (code, time) = try sent(flow, "code of the derived seed")
        var codes: [String] = []
        for early in 0..<5 { codes.append(try await oath.code(for: account.id, at: time - Int64(early)).text) }
        #expect(codes.contains(code))
    }

    // MARK: containers

    /// The device's key of a recording: it gives the signature that was sent then, if that is over the same text.
    private struct RecordedKey: ApprovalKey {
        let publicKey: PublicKey
        let signatures: [[UInt8]]

        init(_ flow: RecordedFlow, registeredBy note: String) throws {
            let pem = try #require(try flow.sent(note)["public_client_key"]?.string)
            let lines = pem.split(separator: "\n").filter { !$0.hasPrefix("-") }
            publicKey = try PublicKey(subjectPublicKeyInfo: Base64.decode(lines.joined()))
            signatures = try flow.steps.compactMap { $0["request"]?["json"]?["signature"]?.string }
                .map { try Base64.decode($0) }
        }

        func sign(_ text: [UInt8]) async throws -> [UInt8] {
            try #require(
                signatures.first { publicKey.isValid($0, for: text, .sha256) },
                "nothing that was sent is signed over \(String(decoding: text, as: UTF8.self))")
        }
    }

    private func container(_ link: ContainerLink, _ key: RecordedKey) -> ContainerAccount {
        let place = PIVKeyPlace(slot: .authentication, keySerial: 1, policies: KeyPolicies(), attestation: nil)
        return ContainerAccount(
            link, name: "", publicKey: key.publicKey, place: .piv(place), model: "PIV", trust: HTTPTrust(), added: 0)
    }

    /// Whether a request has all members of the recorded one, and no others.
    private func expect(_ sent: JSONValue?, equals note: String, of flow: RecordedFlow) throws {
        let recorded = try #require(try flow.sent(note).object)
        let object = try #require(sent?.object)
        #expect(Set(object.members.map(\.key)) == Set(recorded.members.map(\.key)))
        for member in recorded.members { #expect(object[member.key] == member.value, "\(note): \(member.key)") }
    }

    @Test func containerRegistersMovesAndLeaves() async throws {
        let flow = try RecordedFlow("22-container")
        let link = try ContainerLink(try #require(try flow.value("url").string))
        let key = try RecordedKey(flow, registeredBy: "register")
        let server = ScriptedServer(
            try flow.answer("register"), try flow.answer("again", path: "/container/register/finalize"),
            try flow.answer("rollover"), try flow.answer("signed"), try flow.answer("register/terminate/client"),
            try flow.answer("device leaves"))
        let client = ContainerClient(server, CountingRandom())
        try await client.register(link, key, model: "PIV", passphrase: nil, HTTPTrust())
        try expect(server.json(0), equals: "register", of: flow)
        await #expect(throws: ApprovalError.self) {
            try await client.register(link, key, model: "PIV", passphrase: nil, HTTPTrust())
        }
        let account = container(link, key)
        let other = try await client.rollover(account, key)
        #expect(try ContainerLink(other).serial == link.serial)
        try expect(server.json(3), equals: "signed", of: flow)
        try await client.terminate(account, key)
        try expect(server.json(5), equals: "device leaves", of: flow)
    }

    /// The server has the key, and its answer was lost: the same request again says so.
    @Test func containerRegistersThoughTheAnswerIsLost() async throws {
        let flow = try RecordedFlow("22-container")
        let link = try ContainerLink(try #require(try flow.value("url").string))
        let key = try RecordedKey(flow, registeredBy: "register")
        let again = try flow.answer("again", path: "/container/register/finalize")
        let server = ScriptedServer(.text("<html>"), again)
        try await ContainerClient(server, CountingRandom()).register(
            link, key, model: "PIV", passphrase: nil, HTTPTrust())
        #expect(server.json(0) == server.json(1))
        try expect(server.json(1), equals: "register", of: flow)
        // A refusal that nothing preceded is one.
        await #expect(throws: ApprovalError.self) {
            try await ContainerClient(ScriptedServer(again), CountingRandom()).register(
                link, key, model: "PIV", passphrase: nil, HTTPTrust())
        }
        await #expect(throws: ApprovalError.self) {
            try await ContainerClient(ScriptedServer(.text("<html>"), .text("<html>")), CountingRandom()).register(
                link, key, model: "PIV", passphrase: nil, HTTPTrust())
        }
    }

    @Test func containerMoves() async throws {
        let flow = try RecordedFlow("31-container-move")
        let urls = flow.steps.compactMap { $0["url"]?.string }
        let first = try RecordedKey(flow, registeredBy: "right passphrase")
        let link = try ContainerLink(urls[0])
        #expect(link.passphrasePrompt == "Name of your first cat?")
        let server = ScriptedServer(
            try flow.answer("right passphrase"), try flow.answer("move"), try flow.answer("old key asks"),
            try flow.answer("new key registers"))
        let client = ContainerClient(server, CountingRandom())
        let passphrase = try passphrase(in: flow)
        try await client.register(
            link, first, model: "slot 82", passphrase: SharedSecret(Secret(utf8: passphrase)), HTTPTrust())
        try expect(server.json(0), equals: "right passphrase", of: flow)
        let moved = try await client.rollover(container(link, first), first)
        #expect(moved == urls[1])
        try expect(server.json(2), equals: "old key asks", of: flow)
        let second = try RecordedKey(flow, registeredBy: "new key registers")
        #expect(second.publicKey != first.publicKey)
        let again = try ContainerLink(moved)
        try await client.register(
            again, second, model: "slot 84", passphrase: SharedSecret(Secret(utf8: passphrase)), HTTPTrust())
        try expect(server.json(3), equals: "new key registers", of: flow)
    }

    /// The passphrase that the administrator set.
    private func passphrase(in flow: RecordedFlow) throws -> String {
        try #require(try flow.sent("with a passphrase")["passphrase_response"]?.string)
    }
}
