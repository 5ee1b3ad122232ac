// SPDX-License-Identifier: Apache-2.0

import YKApproval
import YKHTTP
import YKit

/// A server of push accounts in memory: it has one account, which has one request until it is answered.
actor FakeServer: ApprovalServer {
    static let url = "https://login.example.com/ttype/push"
    static let serial = "PIPU0001"
    /// What a server shows as a QR code.
    static let link =
        "otpauth://pipush/work?v=1&url=\(url)&serial=\(serial)&enrollment_credential=0123456789&issuer=Example"

    private let key: PrivateKey
    private let nonce = "NWN6XGVS3QYKAKWJB5UKB2GCR3KBYZ3S"
    private var account: PublicKey?
    private var isAnswered = false

    init() throws { key = try PrivateKey(newRSA: 2048) }

    func register(
        _ key: PublicKey, serial: String, credential: SharedSecret, address: String?
    ) throws(ServerError) -> ServerReply<PushRegistration> {
        guard account == nil, serial == Self.serial else {
            return ServerReply(.success(.refused("the link was used before")), date: nil)
        }
        account = key
        return ServerReply(.success(.accepted(self.key.publicKey)), date: nil)
    }

    func openRequests(
        of serial: String, timestamp: String, signature: String
    ) throws(ServerError) -> ServerReply<PushRequests> {
        guard isSigned(PushText.poll(serial: serial, timestamp: timestamp), signature) else {
            return ServerReply(.success(.refused), date: nil)
        }
        return ServerReply(.success(.open(isAnswered ? [] : [try request()])), date: nil)
    }

    func answer(_ answer: PushAnswer) -> PushConfirmation {
        let text =
            answer.isApproved
            ? PushText.approval(of: answer.nonce, serial: answer.serial)
            : PushText.decline(of: answer.nonce, serial: answer.serial)
        guard !isAnswered, answer.nonce == nonce, isSigned(text, answer.signature) else {
            return PushConfirmation(isAccepted: false)
        }
        isAnswered = true
        return PushConfirmation(isAccepted: true)
    }

    func setAddress(
        _ address: String, of serial: String, timestamp: String, signature: String
    ) -> Bool { false }

    func signIn(_ user: String, _ password: SharedSecret) throws(ServerError) -> any ApprovalServerSession {
        throw .status(501)
    }

    /// The request, signed by the server.
    private func request() throws(ServerError) -> JSONValue {
        let question = "Sign in to the wiki?"
        let parts = [nonce, Self.url, Self.serial, question, "Example", "1"]
        guard let signature = try? key.sign(Array(parts.joined(separator: "|").utf8), .sha256) else {
            throw .status(500)
        }
        return [
            "nonce": .string(nonce), "url": .string(Self.url), "serial": .string(Self.serial),
            "question": .string(question), "title": "Example", "sslverify": "1",
            "signature": .string(Base32.encode(signature, padded: true)),
        ]
    }

    private func isSigned(_ text: String, _ signature: String) -> Bool {
        guard let account, let bytes = try? Base32.decode(signature) else { return false }
        return account.isValid(bytes, for: Array(text.utf8), .sha256)
    }
}
