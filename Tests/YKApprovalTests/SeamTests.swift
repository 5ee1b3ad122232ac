// SPDX-License-Identifier: Apache-2.0

import Synchronization
import Testing
import YKCrypto
import YKHTTP
import YKTestSupport
import YKTransport
import YKWire

@testable import YKApproval

/// A server that is no privacyIDEA and speaks no HTTP.
private final class MemoryServer: ApprovalServer, ApprovalServerSession {
    struct Content {
        var device: PublicKey?
        var entries: [JSONValue] = []
        var answers: [PushAnswer] = []
        var address: String?
        var failure: ServerError?
    }

    let serverKey: PublicKey
    let content = Mutex(Content())

    init(_ serverKey: PublicKey) { self.serverKey = serverKey }

    private func verifies(_ text: String, _ signature: String) -> Bool {
        guard let bytes = try? Base32.decode(signature) else { return false }
        return content.withLock { $0.device?.isValid(bytes, for: Array(text.utf8), .sha256) ?? false }
    }

    func register(
        _ key: PublicKey, serial: String, credential: SharedSecret, address: String?
    ) throws(ServerError) -> ServerReply<PushRegistration> {
        if let failure = content.withLock({ $0.failure }) { throw failure }
        let isFirst = content.withLock { content in
            defer { content.device = content.device ?? key }
            return content.device == nil
        }
        return ServerReply(.success(isFirst ? .accepted(serverKey) : .refused("used")), date: nil)
    }

    func openRequests(
        of serial: String, timestamp: String, signature: String
    ) -> ServerReply<PushRequests> {
        let isSigned = verifies("\(serial)|\(timestamp)", signature)
        return ServerReply(.success(isSigned ? .open(content.withLock { $0.entries }) : .refused), date: nil)
    }

    func answer(_ answer: PushAnswer) throws(ServerError) -> PushConfirmation {
        if let failure = content.withLock({ $0.failure }) { throw failure }
        content.withLock { $0.answers.append(answer) }
        return PushConfirmation(isAccepted: true, displayCode: "42")
    }

    func setAddress(_ address: String, of serial: String, timestamp: String, signature: String) -> Bool {
        guard verifies("\(address)|\(serial)|\(timestamp)", signature) else { return false }
        content.withLock { $0.address = address }
        return true
    }

    func signIn(_ user: String, _ password: SharedSecret) -> any ApprovalServerSession { self }
    func requestLink() -> String { "nothing" }
    func deleteToken(_ serial: String) throws(ServerError) { throw .status(501) }
    func log(of serial: String, limit: Int) -> [JSONValue] { ["an entry"] }
}

/// The approver at a server that shares nothing with privacyIDEA.
@Suite struct SeamTests {
    private let vectors: PushVectors
    private let key: SoftwareApprovalKey
    private let server: MemoryServer
    private let approver: Approver

    init() throws {
        vectors = try PushVectors()
        key = try SoftwareApprovalKey(der: vectors.device.der.value)
        let server = MemoryServer(vectors.server.publicKey)
        self.server = server
        approver = Approver(ServiceEnvironment()) { _, _, _ in server }
    }

    @Test func enrolsPollsAndAnswers() async throws {
        let link = try PushLink(vectors.link)
        let enrolment = try await approver.enroll(link, name: "work", key, .software)
        expect(enrolment.problem, is: nil)
        await #expect(throws: ApprovalError.enrolmentRefused("used")) {
            _ = try await approver.enroll(link, name: "work", key, .software)
        }
        let account = enrolment.account
        let challenge = try vectors.challenge()
        server.content.withLock { $0.entries = [challenge] }
        let request = try #require(try await approver.requests(of: account, key).requests.first)
        let receipt = try await approver.decline(request, nil, account, key)
        #expect(receipt.isAccepted && receipt.displayCode == "42")
        expect(server.content.withLock { $0.answers.map(\.isApproved) }, is: [false])
        try await expect(approver.setAddress("topic", account, key).address, is: "topic")
        expect(server.content.withLock { $0.address }, is: "topic")
        server.content.withLock { $0.failure = .http(.timedOut) }
        let error = await #expect(throws: ApprovalError.self) {
            _ = try await approver.decline(request, nil, account, key)
        }
        guard case .noReceipt(.http(.timedOut), _, _)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test func asksForTheSignedInUser() async throws {
        let url = try HTTPURL("https://localhost")
        let password = SharedSecret(Secret(utf8: "x"))
        let session = try await approver.signIn(url, user: "alice", password)
        try await expect(approver.log(of: "P", limit: 1, session), is: ["an entry"])
        await #expect(throws: ApprovalError.server(.status(501))) { try await approver.deleteToken("P", session) }
        await #expect(throws: ApprovalError.self) { _ = try await approver.requestLink(url, user: "alice", password) }
    }
}
