// SPDX-License-Identifier: Apache-2.0

public import YKCrypto
public import YKHTTP
public import YKPrivacyIDEA
public import YKTransport
public import YKWire

extension Approver {
    /// Creates an approver for accounts of privacyIDEA servers.
    ///
    /// - Parameters:
    ///   - http: The HTTP client that sends the requests.
    ///   - environment: The clock and the randomness.
    public init(_ http: any HTTPClient, _ environment: ServiceEnvironment) {
        self.init(environment) { address, trust, timeout in
            var client = PrivacyIDEA(address, http, environment.random)
            client.trust = trust
            client.timeout = timeout
            return PrivacyIDEAPush(client)
        }
    }
}

/// The push tokens of a privacyIDEA server, as ``Approver`` uses them.
public struct PrivacyIDEAPush: ApprovalServer, ApprovalServerSession {
    private let client: PrivacyIDEA

    /// Uses a client of an account's enrolled address or, for signing in, of the server's own address.
    public init(_ client: PrivacyIDEA) { self.client = client }

    /// The error number with which the server refuses a signature or its time.
    private static let unsigned = 10

    /// Registers the key of a token (`POST /ttype/push`, second step of the enrollment).
    public func register(
        _ key: PublicKey, serial: String, credential: SharedSecret, address: String?
    ) async throws(ServerError) -> ServerReply<PushRegistration> {
        // Without padding the server accepts the key, but then answers each poll with 500.
        try await exchange(
            .post,
            [
                "serial": .string(serial), "enrollment_credential": .string(credential.text),
                "fbtoken": .string(address ?? ""),
                "pubkey": .string(Base64.encodeURL(key.subjectPublicKeyInfo, padded: true)),
            ]
        ) { answer throws(ServerError) in
            do throws(ServerError) {
                return .accepted(try answer.get().detail["public_key"]?.string.flatMap(Self.serverKey))
            } catch {
                guard case .refused(400...404, _, let message) = error else { throw error }
                return .refused(message)
            }
        }
    }

    /// Polls (`GET /ttype/push`).
    public func openRequests(
        of serial: String, timestamp: String, signature: String
    ) async throws(ServerError) -> ServerReply<PushRequests> {
        try await exchange(
            .get,
            ["serial": .string(serial), "timestamp": .string(timestamp), "signature": .string(signature)]
        ) { answer throws(ServerError) in
            do throws(ServerError) {
                guard let list = try answer.get().value.array else {
                    throw ServerError.malformed("the list of requests is missing")
                }
                return .open(list)
            } catch {
                guard case .refused(400, Self.unsigned, _) = error else { throw error }
                return .refused
            }
        }
    }

    /// Answers a challenge (`POST /ttype/push`).
    public func answer(_ answer: PushAnswer) async throws(ServerError) -> PushConfirmation {
        var sent = JSONValue.Object()
        sent["serial"] = .string(answer.serial)
        sent["nonce"] = .string(answer.nonce)
        sent["signature"] = .string(answer.signature)
        if answer.isApproved {
            sent["presence_answer"] = answer.number.map(JSONValue.string)
        } else {
            sent["decline"] = 1
            sent["decline_reason"] = answer.reason.map { .string($0.rawValue) }
        }
        let reply = try await post(.object(sent))
        let code = reply.detail["display_code"]
        return PushConfirmation(
            isAccepted: reply.value == true, displayCode: code?.string ?? code?.int.map { String($0) },
            message: reply.detail["message"]?.string)
    }

    /// Sets the token's address for deliveries.
    public func setAddress(
        _ address: String, of serial: String, timestamp: String, signature: String
    ) async throws(ServerError) -> Bool {
        do {
            let reply = try await post([
                "new_fb_token": .string(address), "serial": .string(serial), "timestamp": .string(timestamp),
                "signature": .string(signature),
            ])
            return reply.value == true
        } catch {
            guard case .refused(400, Self.unsigned, _) = error else { throw error }
            return false
        }
    }

    private func post(_ parameters: JSONValue) async throws(ServerError) -> PrivacyIDEAAnswer {
        try PrivacyIDEAAnswer(try await client.exchange(.post, "", parameters, as: .form))
    }

    private func exchange<Value>(
        _ method: HTTPMethod, _ parameters: JSONValue,
        _ read: (Result<PrivacyIDEAAnswer, ServerError>) throws(ServerError) -> Value
    ) async throws(ServerError) -> ServerReply<Value> {
        let response = try await client.exchange(method, "", parameters, as: .form)
        let answer = Result { () throws(ServerError) in try PrivacyIDEAAnswer(response) }
        return ServerReply(Result { () throws(ServerError) in try read(answer) }, date: response.date)
    }

    /// Reads the server's key: base64 of an RSAPublicKey (RFC 8017 §A.1.1), on several lines.
    private static func serverKey(_ text: String) -> PublicKey? {
        guard text.utf8.count <= 4096, let der = try? Base64.decode(text.filter { !$0.isWhitespace }),
            let key = try? PublicKey(rsaPublicKey: der), case .rsa(let modulus, _) = key,
            (256...1024).contains(modulus.count)
        else { return nil }
        return key
    }

    // MARK: signed-in users

    /// Signs a user in, with the password or a registration code if the server's policy accepts one.
    public func signIn(
        _ user: String, _ password: SharedSecret
    ) async throws(ServerError) -> any ApprovalServerSession {
        var client = client
        try await client.logIn(user, password: password.value)
        return PrivacyIDEAPush(client)
    }

    /// Requests a push token (`POST /token/init`).
    public func requestLink() async throws(ServerError) -> String {
        let answer = try await client.initToken(.push, ["genkey": 1])
        guard let text = answer.detail["pushurl"]?["value"]?.string else {
            throw .malformed("the answer has no enrollment link")
        }
        return text
    }

    /// Deletes a token (`DELETE /token/SERIAL`).
    public func deleteToken(_ serial: String) async throws(ServerError) { try await client.delete(serial) }

    /// Returns the audit log of a token (`GET /audit/`).
    public func log(of serial: String, limit: Int) async throws(ServerError) -> [JSONValue] {
        let answer = try await client.call(
            .get, "/audit/", ["serial": .string(serial), "pagesize": .int(Int64(limit)), "sortorder": "desc"])
        guard let entries = answer.value["auditdata"]?.array else { throw .malformed("the log is missing") }
        return Array(entries.prefix(limit))
    }
}
