// SPDX-License-Identifier: Apache-2.0

import Synchronization
import Testing
import YKCrypto
import YKHTTP
import YKPrivacyIDEA
import YKTestSupport
import YKTransport
import YKWire

@testable import YKApproval

/// Enrolment, polls and answers against a server that verifies what it gets.
struct ApproverTests {
    private static let start: Int64 = 1_795_319_925
    private let server: PushServer
    private let vectors: PushVectors
    private let key: SoftwareApprovalKey

    init() throws {
        vectors = try PushVectors()
        server = PushServer(vectors)
        key = try SoftwareApprovalKey(der: vectors.device.der.value)
    }

    private func approver(behind seconds: Int64 = 0) -> Approver {
        Approver(server, ServiceEnvironment(clock: FixedClock(Self.start - seconds)))
    }

    private func enrolled() async throws -> PushAccount {
        try await approver().enroll(PushLink(vectors.link), name: "work", key, .software).account
    }

    /// A key whose signatures are of another key.
    private struct WrongKey: ApprovalKey {
        let publicKey: PublicKey
        let signer: SoftwareApprovalKey
        func sign(_ text: [UInt8]) async throws -> [UInt8] { try await signer.sign(text) }
    }

    @Test func enrols() async throws {
        let link = try PushLink(vectors.link)
        let enrolment = try await approver().enroll(link, name: "work", key, .software, address: "topic")
        #expect(enrolment.problem == nil && enrolment.account.serverKey == vectors.server.publicKey)
        #expect(enrolment.account.address == "topic" && enrolment.account.account.server == "pi.example")
        expect(enrolment.account.base?.description, is: "https://pi.example/")
        let sent = server.state.withLock { $0.sent }
        #expect(sent.map(\.method) == [.post, .get] && sent[0].fields["fbtoken"] == "topic")
        expect(sent[0].fields["pubkey"], is: vectors.publicKeyParameter)
    }

    /// privacyIDEA accepts a key without padding, and answers each poll with 500 afterwards.
    @Test(arguments: [1024, 2048, 3072, 4096]) func sendsKeysWithPadding(_ bits: Int) async throws {
        let key = try SoftwareApprovalKey(der: PrivateKey(newRSA: bits).der.value)
        let link = try PushLink(vectors.link)
        try await expect(approver().enroll(link, name: "work", key, .software).problem, is: nil)
        let sent = server.state.withLock { $0.sent[0].fields["pubkey"] ?? "" }
        #expect(sent.utf8.count.isMultiple(of: 4))
        try expect(Base64.decode(sent), is: key.publicKey.subjectPublicKeyInfo)
    }

    @Test func refusesToEnrolWhatTheServerWouldNotUse() async throws {
        let link = try PushLink(vectors.link)
        let curve = try SoftwareApprovalKey(
            der: PrivateKey(.p256, scalar: Secret([UInt8](repeating: 7, count: 32))).der.value)
        await #expect(throws: ApprovalError.unsupportedKey("a key that is not RSA")) {
            try await approver().enroll(link, name: "work", curve, .software)
        }
        let wrong = WrongKey(publicKey: key.publicKey, signer: curve)
        await #expect(throws: ApprovalError.possession) {
            try await approver().enroll(link, name: "work", wrong, .software)
        }
        #expect(server.state.withLock { $0.sent.isEmpty })
        let other = try PushLink(vectors.link.replacing("9311ee", with: "000000"))
        await #expect(throws: ApprovalError.enrolmentRefused("ERR905: Invalid enrollment credential.")) {
            try await approver().enroll(other, name: "work", key, .software)
        }
        for value in ["x", "AAAA", Base64.encode(Array(repeating: 48, count: 600))] {
            server.state.withLock { state in
                state.answers["POST /ttype/push"] = PushServer.reply(true, ["public_key": .string(value)], state)
            }
            await #expect(throws: ApprovalError.malformed("the server's key is not RSA of 2048 to 8192 bits")) {
                try await approver().enroll(link, name: "work", key, .software)
            }
        }
        server.state.withLock { $0.answers["POST /ttype/push"] = PushServer.json(500, ["result": nil], $0) }
        await #expect(throws: ApprovalError.self) {
            try await approver().enroll(link, name: "work", key, .software)
        }
    }

    @Test func keepsAnAccountWhoseFirstPollFails() async throws {
        let link = try PushLink(vectors.link)
        let late = try await approver(behind: 90).enroll(link, name: "work", key, .software)
        #expect(late.problem == .clock(behind: .seconds(90)) && late.account.publicKey == key.publicKey)
        server.state.withLock { $0.answers["GET /ttype/push"] = server.refusal(400, 10, "", $0) }
        try await expect(approver().enroll(link, name: "work", key, .software).problem, is: .pollRefused)
    }

    @Test func fetchesAndApproves() async throws {
        let account = try await enrolled()
        try await expect(
            approver().requests(of: account, key), is: PushPoll(requests: [], faults: [], clockBehind: nil))
        let challenge = try vectors.challenge()
        let numbered = try vectors.challenge(nonce: "ABCDEFGH", numbers: "14,16")
        var forged = try #require(challenge.object)
        forged["question"] = "Pay 1 CHF?"
        server.state.withLock { $0.entries = [challenge, .object(forged), numbered, challenge, "x"] }
        let poll = try await approver().requests(of: account, key)
        expect(poll.requests.map(\.nonce), is: [PushVectors.nonce, "ABCDEFGH"])
        expect(poll.faults, is: [.signature, .malformed("signature")])
        server.state.withLock { $0.detail = ["display_code": "91", "message": "Enter the code to log in"] }
        let receipt = try await approver().approve(poll.requests[0], account, key)
        #expect(receipt.isAccepted && receipt.displayCode == "91" && receipt.message == "Enter the code to log in")
        expect(receipt.signedText, is: "\(PushVectors.nonce)|PIPU0000CAFE")
        expect(receipt.signature, is: (try vectors.vector("approve").signature))
        let other = poll.requests[1]
        await #expect(throws: ApprovalError.numberNeeded(["14", "16"])) {
            try await approver().approve(other, account, key)
        }
        await #expect(throws: ApprovalError.numberNotOffered("15", offered: ["14", "16"])) {
            try await approver().approve(other, number: "15", account, key)
        }
        await #expect(throws: ApprovalError.numberNotOffered("14", offered: [])) {
            try await approver().approve(poll.requests[0], number: "14", account, key)
        }
        server.state.withLock { $0.detail = ["display_code": 91] }
        let second = try await approver().approve(other, number: "14", account, key)
        #expect(second.isAccepted && second.displayCode == "91" && second.signedText == "ABCDEFGH|PIPU0000CAFE|14")
    }

    @Test func declines() async throws {
        let account = try await enrolled()
        let request = try vectors.request(try vectors.challenge())
        let reasonless = try vectors.request(try vectors.challenge(takesReason: false))
        for (request, reason, text) in [
            (request, nil, "decline"), (request, .unknownTrigger, "decline|unknown_trigger"),
            (request, .cancelled, "decline|cancelled"), (reasonless, DeclineReason.cancelled, "decline"),
        ] as [(PushRequest, DeclineReason?, String)] {
            let receipt = try await approver().decline(request, reason, account, key)
            #expect(receipt.isAccepted && receipt.signedText == "\(PushVectors.nonce)|PIPU0000CAFE|\(text)")
        }
    }

    @Test func tellsWhyAnAnswerWasNotAccepted() async throws {
        let account = try await enrolled()
        let request = try vectors.request(try vectors.challenge())
        server.state.withLock { $0.accepts = false }
        #expect(try await !approver().approve(request, account, key).isAccepted)
        func cause(_ hadNumber: Bool) async -> PushRefusal {
            await approver().cause(ofRefusing: request, hadNumber: hadNumber, account, key)
        }
        await expect(cause(true), is: .closed)
        server.state.withLock { $0.entries = [request.challenge] }
        await expect(cause(true), is: .wrongNumber)
        await expect(cause(false), is: .stillOpen)
        server.state.withLock { $0.answers["GET /ttype/push"] = PushServer.json(500, [:], $0) }
        await expect(cause(false), is: .unknown)
        server.state.withLock { $0.answers["POST /ttype/push"] = PushServer.json(500, [:], $0) }
        await #expect(throws: ApprovalError.self) { try await approver().approve(request, account, key) }
    }

    @Test(arguments: [50, -50, 90, -90, 86_400, -86_400] as [Int64])
    func pollsWithTheServersTime(_ seconds: Int64) async throws {
        let account = try await enrolled()
        server.state.withLock { $0.sent = [] }
        let poll = try await approver(behind: seconds).requests(of: account, key)
        expect(poll.clockBehind, is: .seconds(seconds))
        expect(server.state.withLock { $0.sent.count }, is: (seconds.magnitude > 60 ? 2 : 1))
    }

    @Test func doesNotTrustADateThatDoesNotHelp() async throws {
        let account = try await enrolled()
        server.state.withLock { $0.date = $0.now + 5000 }
        await #expect(throws: ApprovalError.clock(behind: .seconds(5090))) {
            try await approver(behind: 90).requests(of: account, key)
        }
        server.state.withLock { $0.date = nil }
        let stranger = try SoftwareApprovalKey()
        await #expect(throws: ApprovalError.pollRefused) { try await approver().requests(of: account, stranger) }
        for answer in [PushServer.json(404, [:], .init()), PushServer.reply("x", .null, .init())] {
            server.state.withLock { $0.answers["GET /ttype/push"] = answer }
            await #expect(throws: ApprovalError.self) { try await approver().requests(of: account, key) }
        }
    }

    @Test func setsAnAddress() async throws {
        let account = try await enrolled()
        try await expect(approver().setAddress("topic-2", account, key).address, is: "topic-2")
        for address in ["", "a|b", "a\nb", String(repeating: "x", count: 600)] {
            await #expect(throws: ApprovalError.self) { try await approver().setAddress(address, account, key) }
        }
        let stranger = try SoftwareApprovalKey()
        await #expect(throws: ApprovalError.pollRefused) {
            try await approver().setAddress("topic", account, stranger)
        }
        server.state.withLock { $0.answers["POST /ttype/push"] = PushServer.reply(false, .null, $0) }
        await #expect(throws: ApprovalError.pollRefused) { try await approver().setAddress("topic", account, key) }
        server.state.withLock { $0.answers["POST /ttype/push"] = PushServer.json(500, [:], $0) }
        await #expect(throws: ApprovalError.self) { try await approver().setAddress("topic", account, key) }
    }

    @Test func asksForALinkAsThePerson() async throws {
        let address = try HTTPURL("https://pi.example")
        let password = SharedSecret(Secret(utf8: "secret"))
        await #expect(throws: ApprovalError.self) {
            try await approver().requestLink(address, user: "alice", password)
        }
        server.state.withLock { state in
            state.answers["POST /auth"] = PushServer.reply(["token": "jwt", "role": "user"], .null, state)
            state.answers["POST /token/init"] = PushServer.reply(
                true, ["pushurl": ["value": .string(vectors.link)]], state)
            state.answers["GET /audit/"] = PushServer.reply(
                ["auditdata": [["number": 1], ["number": 2]]], .null, state)
            state.answers["DELETE /token/PIPU0000CAFE"] = PushServer.reply(1, .null, state)
        }
        try await expect(approver().requestLink(address, user: "alice", password).serial, is: "PIPU0000CAFE")
        let client = try await approver().signIn(address, user: "alice", password)
        try await expect(approver().log(of: "PIPU0000CAFE", limit: 1, client), is: [["number": 1]])
        try await approver().deleteToken("PIPU0000CAFE", client)
        await #expect(throws: ApprovalError.self) { try await approver().deleteToken("PIPU00000000", client) }
        for (path, value) in [("POST /auth", JSONValue.null), ("POST /token/init", true), ("GET /audit/", [])] {
            server.state.withLock { $0.answers[path] = PushServer.reply(value, .null, $0) }
        }
        await #expect(throws: ApprovalError.self) { try await approver().log(of: "P", limit: 1, client) }
        await #expect(throws: ApprovalError.self) {
            try await approver().requestLink(address, user: "alice", password)
        }
        server.state.withLock { state in
            state.answers["POST /auth"] = PushServer.reply(["token": "jwt", "role": "user"], .null, state)
        }
        await #expect(throws: ApprovalError.self) {
            try await approver().requestLink(address, user: "alice", password)
        }
        server.state.withLock { state in
            state.answers["POST /token/init"] = PushServer.reply(true, ["pushurl": ["value": "otpauth://x"]], state)
        }
        await #expect(throws: ApprovalError.self) {
            try await approver().requestLink(address, user: "alice", password)
        }
    }

    @Test func streamsNewRequestsOnce() async throws {
        let account = try await enrolled()
        let first = try vectors.challenge(nonce: "FIRST")
        server.state.withLock { $0.entries = [first] }
        var seen: [String] = []
        let second = try vectors.challenge(nonce: "SECOND")
        let other = server
        for try await request in approver().requests(of: account, key, every: .milliseconds(1)) {
            seen.append(request.nonce)
            if seen.count == 1 { other.state.withLock { $0.entries = [first, second] } }
            if seen.count == 2 {
                other.state.withLock { $0.answers["GET /ttype/push"] = PushServer.json(500, [:], $0) }
            }
            if seen.count == 2 { break }
        }
        expect(seen, is: ["FIRST", "SECOND"])
        await #expect(throws: ApprovalError.self) {
            for try await _ in approver().requests(of: account, key, every: .milliseconds(1)) {}
        }
    }
}
