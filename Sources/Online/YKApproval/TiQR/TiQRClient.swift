// SPDX-License-Identifier: Apache-2.0

public import YKCrypto
public import YKHTTP
import YKPrivacyIDEA
public import YKTransport
import YKWire

/// A service's answer to a login.
public enum TiQRResult: Hashable, Sendable {
    /// The response was correct.
    case accepted
    /// The response was wrong; the number of remaining tries, if the service reports it.
    case wrong(triesLeft: Int?)
    /// The session is unknown, has expired, or was already used.
    case unknownChallenge
    /// The service does not know the user.
    case unknownIdentity
    /// The account is locked; for how long, in whole minutes, if the service reports it.
    case blocked(for: Duration?)
    /// The service did not understand the request, or gave another answer.
    case other(String)

    /// Reads an answer, a word with an optional number, such as `INVALID_RESPONSE:9`.
    ///
    /// - Throws: `malformed` for anything else.
    public init(_ body: [UInt8]) throws(ApprovalError) {
        guard (1...64).contains(body.count), body.allSatisfy({ (0x20...0x7E).contains($0) || $0 == 0x0A }) else {
            throw .malformed("the service's answer is not one of TiQR's")
        }
        let text = String(decoding: body.filter { $0 != 0x0A }, as: UTF8.self)
        let parts = text.split(separator: ":", maxSplits: 1)
        let number = parts.count > 1 ? Int(parts[1]) : nil
        switch parts.first {
        case "OK": self = .accepted
        case "INVALID_RESPONSE": self = .wrong(triesLeft: number)
        case "INVALID_CHALLENGE": self = .unknownChallenge
        case "INVALID_USERID", "INVALID_USER": self = .unknownIdentity
        case "ACCOUNT_BLOCKED":
            self = .blocked(for: number.flatMap(Int32.init(exactly:)).map { .seconds(Int64($0) * 60) })
        case "INVALID_REQUEST", "ERROR": self = .other(text)
        default: throw .malformed("the service's answer is not one of TiQR's")
        }
    }
}

/// Enrolls accounts at TiQR services and answers logins.
public struct TiQRClient: Sendable {
    private let http: any HTTPClient
    private let random: any RandomSource
    /// How the server's certificate is verified.
    public var trust = HTTPTrust()
    /// Timeout for a request.
    public var timeout = Duration.seconds(30)
    /// The preferred language for the service's messages, two letters (ISO 639-1).
    public var language = "en"
    /// The length of a secret in bytes.
    public static let secretSize = 32
    private static let limit = 64 << 10

    /// Creates a client.
    public init(_ http: any HTTPClient, _ random: any RandomSource) {
        self.http = http
        self.random = random
    }

    /// Reads an enrollment's metadata. This can be repeated until ``register(_:at:)`` has used up the session.
    ///
    /// - Parameter now: The time, in seconds since 1970.
    /// - Throws: `server`, `malformed`, or `otherServer`.
    public func enrolment(
        _ link: TiQREnrolmentLink, at now: Int64
    ) async throws(ApprovalError) -> TiQREnrolment {
        var request = HTTPRequest(get: link.metadata)
        request.fields.append(HTTPField("Accept", "application/json"))
        request.secrets = HTTPSecrets(request: ["session"], answer: ["enrollmentUrl"])
        let response = try await send(request)
        guard response.type == "application/json" else { throw .malformed("the service's metadata is not JSON") }
        let json: JSONValue
        do { json = try JSONValue(parsing: response.body) } catch {
            throw .malformed("the service's metadata: \(error)")
        }
        return try TiQREnrolment(json, link, trust, added: now)
    }

    /// Generates the secret of an account.
    public func secret() throws(ApprovalError) -> SharedSecret {
        do {
            var bytes = try random.draw(Self.secretSize, secret: true)
            defer { Secret.wipe(&bytes) }
            return SharedSecret(Secret(bytes))
        } catch { throw .random }
    }

    /// Sends the secret to the service, which completes the enrollment. Store the secret before sending it.
    ///
    /// - Throws: `server` if the service refuses, or `malformed`.
    public func register(_ secret: borrowing Secret, at url: HTTPURL) async throws(ApprovalError) {
        var bytes = secret.copyBytes()
        defer { Secret.wipe(&bytes) }
        let answer = try await post(
            url,
            [
                ("operation", "register"), ("secret", Hex.encode(bytes)), ("language", language),
                ("notificationType", ""), ("notificationAddress", ""),
            ])
        guard answer.body == Array("OK".utf8) else { throw .malformed("the service did not confirm the enrollment") }
    }

    /// Returns the response to a login, which the service accepts in place of a password.
    ///
    /// - Throws: `otherAccount`, or `malformed` for a challenge that does not fit the suite.
    public func response(
        to login: TiQRLogin, _ account: TiQRAccount, _ secret: borrowing Secret
    ) throws(ApprovalError) -> String {
        try account.check(login)
        var input = OCRAInput(login.challenge)
        if account.suite.sessionLength != nil {
            guard let session = try? Hex.decode(login.session) else {
                throw .malformed("the session in the link of TiQR is not hexadecimal")
            }
            input.session = session
        }
        return try account.suite.response(secret, input)
    }

    /// Answers a login at the enrolled address.
    ///
    /// - Throws: `otherAccount` before anything is sent, `server`, or `malformed`.
    public func answer(
        _ login: TiQRLogin, _ account: TiQRAccount, _ secret: borrowing Secret
    ) async throws(ApprovalError) -> TiQRResult {
        let response = try response(to: login, account, secret)
        let answer = try await post(
            account.url,
            [
                ("action", "authentication"), ("sessionKey", login.session), ("userId", account.identity),
                ("response", response), ("operation", "login"), ("language", language),
            ])
        return try TiQRResult(answer.body)
    }

    private func post(_ url: HTTPURL, _ fields: [(String, String)]) async throws(ApprovalError) -> HTTPResponse {
        let form = fields.map { "\($0.0)=\(PercentEncoding.encode($0.1))" }.joined(separator: "&")
        var request = HTTPRequest(post: url, Array(form.utf8), type: "application/x-www-form-urlencoded")
        request.secrets = HTTPSecrets(request: ["session", "secret", "response"], answer: [])
        return try await send(request)
    }

    private func send(_ request: HTTPRequest) async throws(ApprovalError) -> HTTPResponse {
        var request = request
        request.trust = trust
        request.timeout = timeout
        request.limit = Self.limit
        let response: HTTPResponse
        do { response = try await http.send(request) } catch { throw .server(.http(error)) }
        if let place = response.redirect {
            throw .server(.http(.redirected(to: place, status: response.status)))
        }
        guard response.status == 200 else {
            // privacyIDEA explains a refusal in its answer; other services send only the status.
            do { _ = try PrivacyIDEAAnswer(response) } catch { throw .server(error) }
            throw .server(.status(response.status))
        }
        return response
    }
}
