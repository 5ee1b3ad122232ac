// SPDX-License-Identifier: Apache-2.0

public import YKCrypto
public import YKTransport
public import YKWire

/// A transport to a validation server.
public protocol ValidationTransport {
    /// Sends GET and returns status and body; does not follow redirects, and throws if the body is longer than `limit`
    /// bytes or the deadline has passed.
    func get(
        _ address: String, limit: Int, timeout: Duration
    ) async throws(ValidationTransportError) -> (status: Int, body: [UInt8])
}

/// Why there is no reply.
public struct ValidationTransportError: Error, Hashable, Sendable {
    /// What happened, in a few words.
    public let reason: String
    /// Creates an error.
    public init(_ reason: String) { self.reason = reason }
}

/// Verifies a password with validation servers, one after another (Validation Protocol 2.0).
public struct ValidationClient<Transport: ValidationTransport> {
    /// The URLs of the servers, in the order in which they are tried.
    public var servers: [String]
    /// The client's identifier on the servers.
    public var client: UInt32
    /// The client's key, if the servers sign with it; then unsigned replies are refused.
    private let key: SharedSecret?
    private let transport: Transport
    private let environment: ServiceEnvironment

    /// Creates a client. Without a key the servers must be `https://`, so that their replies are authenticated.
    public init(
        servers: [String], client: UInt32, key: SharedSecret?, transport: Transport, environment: ServiceEnvironment
    ) {
        self.servers = servers
        self.client = client
        self.key = key
        self.transport = transport
        self.environment = environment
    }

    /// Queries the servers until one accepts or refuses; if one is unreachable or broken, the next one is queried with
    /// the same nonce.
    ///
    /// - Throws: The last server's error; `refused` if a server refuses.
    public func verify(
        _ otp: YubicoOTP, syncLevel: Int? = nil, timeout: Duration? = nil
    ) async throws(OTPValidationError) -> (reply: ValidationReply, server: String) {
        let nonce = try lift(OTPValidationError.link) { () throws(LinkError) in
            Hex.encode(try environment.random.draw(16, secret: false))
        }
        let request = ValidationRequest(
            client: client, otp: otp, nonce: nonce, syncLevel: syncLevel, timeout: timeout)
        var last = OTPValidationError.noServer
        let deadline = environment.deadline()
        for (index, server) in servers.enumerated() {
            let share = deadline.remaining / (servers.count - index)
            do { return (try await ask(server, request, share), server) } catch {
                guard error.leavesHope, !environment.cancellation.isCancelled else { throw error }
                last = error
            }
        }
        throw last
    }

    private func ask(
        _ server: String, _ request: ValidationRequest, _ timeout: Duration
    ) async throws(OTPValidationError) -> ValidationReply {
        let reply = try await self.reply(server, request, timeout)
        if let key, !reply.isSigned(by: key), !reply.status.isUnsigned {
            // Servers that refuse a password before they look up the client have no key to sign with.
            if reply.status == .badOTP, !reply.hasSignature || reply.isSigned(by: SharedSecret(Secret([]))) {
                throw .unsignedRefusal(reply.status, server: server)
            }
            throw .badReplySignature(server: server)
        }
        guard reply.status == .ok else { throw .refused(reply.status, server: server) }
        guard reply.answers(request) else { throw .otherReply(server: server) }
        return reply
    }

    private func reply(
        _ server: String, _ request: ValidationRequest, _ timeout: Duration
    ) async throws(OTPValidationError) -> ValidationReply {
        guard server.hasPrefix("https://") || key != nil && server.hasPrefix("http://") else {
            throw .unprotected(server: server)
        }
        let answer: (status: Int, body: [UInt8])
        do throws(ValidationTransportError) {
            answer = try await transport.get(
                request.address(at: server, key: key), limit: ValidationReply.limit, timeout: timeout)
        } catch { throw .unreachable(server: server, reason: error.reason) }
        guard answer.status == 200 else { throw .http(status: answer.status, server: server) }
        return try lift({ OTPValidationError.malformed($0, server: server) }) { () throws(WireError) in
            try ValidationReply(parsing: answer.body)
        }
    }
}

extension OTPValidationError {
    /// Whether another server may answer.
    fileprivate var leavesHope: Bool {
        switch self {
        case .refused(let status, _): status.isTemporary
        case .unreachable, .http, .malformed: true
        default: false
        }
    }
}

/// A request to verify a password (Validation Protocol 2.0, "Request").
public struct ValidationRequest: Hashable, Sendable {
    /// The client's identifier on the server.
    public var client: UInt32
    /// The password as it was typed.
    public var otp: YubicoOTP
    /// 16 to 40 letters and digits that the reply must repeat.
    public var nonce: String
    /// Whether to request the counters.
    public var wantsCounters: Bool
    /// The percentage of the other servers that must confirm; `nil` for the server's default.
    public var syncLevel: Int?
    /// How long the server may wait for the others, in whole seconds; `nil` for the server's default.
    public var timeout: Duration?

    /// Creates a request.
    public init(
        client: UInt32, otp: YubicoOTP, nonce: String, wantsCounters: Bool = true, syncLevel: Int? = nil,
        timeout: Duration? = nil
    ) {
        self.client = client
        self.otp = otp
        self.nonce = nonce
        self.wantsCounters = wantsCounters
        self.syncLevel = syncLevel
        self.timeout = timeout
    }

    private var parameters: [(name: String, value: String)] {
        var list = [("id", "\(client)"), ("nonce", nonce), ("otp", "\(otp)")]
        if let syncLevel { list.append(("sl", "\(syncLevel)")) }
        if let timeout { list.append(("timeout", "\(timeout.components.seconds)")) }
        if wantsCounters { list.append(("timestamp", "1")) }
        return list
    }

    /// The URL with the request, signed with the client's key if there is one.
    public func address(at server: String, key: SharedSecret?) -> String {
        var query = ValidationSignature.line(parameters)
        if let key { query += "&h=" + ValidationSignature.make(parameters, key).queryEscaped }
        return server + (server.contains(bytesOf: "?") ? "&" : "?") + query
    }
}

/// HMAC-SHA-1 over the parameters in the order of their names (Validation Protocol 2.0, "Generating signatures").
enum ValidationSignature {
    static func line(_ parameters: [(name: String, value: String)]) -> String {
        parameters.sorted { $0.name < $1.name }.map { "\($0.name)=\($0.value)" }.joined(separator: "&")
    }

    /// The signature in base64.
    static func make(_ parameters: [(name: String, value: String)], _ key: SharedSecret) -> String {
        Base64.encode(HashAlgorithm.sha1.hmac(key: key.value, Array(line(parameters).utf8)))
    }
}

extension String {
    /// The base64 string with characters that are reserved in queries escaped as `%XX`.
    fileprivate var queryEscaped: String {
        replacing("+", with: "%2B").replacing("/", with: "%2F").replacing("=", with: "%3D")
    }
}

/// The reply of a validation server (Validation Protocol 2.0, "Response").
public struct ValidationReply: Hashable, Sendable {
    /// The status of the password.
    public let status: ValidationStatus
    /// All other values, by name.
    public let values: [String: String]
    /// The signed values, as one line, and the signature.
    private let signed: String
    private let signature: [UInt8]?

    /// Maximum size of a reply, in bytes.
    public static let limit = 8192

    /// Parses lines of `name=value`; throws for a repeated name, too many bytes, or a missing status.
    public init(parsing bytes: [UInt8]) throws(WireError) {
        guard bytes.count <= Self.limit else { throw WireError(.tooLarge, at: Self.limit, "a reply of this size") }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw WireError(.malformed, at: 0, "a reply that is not text")
        }
        var values: [String: String] = [:]
        for line in text.split(whereSeparator: \.isNewline) {
            let parts = line.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2 else { continue }
            let name = parts[0].trimmed
            guard values.updateValue(parts[1].trimmed, forKey: name) == nil else {
                throw WireError(.duplicate, at: 0, "'\(name)' occurs twice")
            }
        }
        guard let status = values["status"] else { throw WireError(.missing, at: 0, "a reply without a status") }
        self.status = ValidationStatus(rawValue: status)
        signature = values.removeValue(forKey: "h").flatMap { try? Base64.decode($0) }
        signed = ValidationSignature.line(values.map { ($0.key, $0.value) })
        values["status"] = nil
        self.values = values
    }

    /// Whether it has a signature, whoever made it.
    var hasSignature: Bool { signature != nil }

    /// Returns whether it is signed with the client's key.
    public func isSigned(by key: SharedSecret) -> Bool {
        guard let signature else { return false }
        return constantTimeEqual(HashAlgorithm.sha1.hmac(key: key.value, Array(signed.utf8)), signature)
    }

    /// Returns whether it answers this request: it repeats the password and the nonce.
    public func answers(_ request: ValidationRequest) -> Bool {
        values["otp"] == "\(request.otp)" && values["nonce"] == request.nonce
    }

    /// The counter that the server read from the password, if it reported it.
    public var counter: OTPCounter? {
        guard let use = values["sessioncounter"].flatMap(UInt16.init),
            let session = values["sessionuse"].flatMap(UInt8.init)
        else { return nil }
        return OTPCounter(use: use, session: session)
    }
}

/// The status in a validation server's reply (Validation Protocol 2.0, "status").
public struct ValidationStatus: OpenSet {
    /// The word in the reply.
    public let rawValue: String
    /// Wraps a word.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The password is valid.
    public static let ok = ValidationStatus(rawValue: "OK")
    /// The password is malformed, or from a key unknown to the server.
    public static let badOTP = ValidationStatus(rawValue: "BAD_OTP")
    /// The password was used before.
    public static let replayedOTP = ValidationStatus(rawValue: "REPLAYED_OTP")
    /// The request was not signed as the server expects.
    public static let badSignature = ValidationStatus(rawValue: "BAD_SIGNATURE")
    /// A parameter is missing from the request.
    public static let missingParameter = ValidationStatus(rawValue: "MISSING_PARAMETER")
    /// The server does not know the client's identifier.
    public static let noSuchClient = ValidationStatus(rawValue: "NO_SUCH_CLIENT")
    /// The client is not allowed to make requests.
    public static let operationNotAllowed = ValidationStatus(rawValue: "OPERATION_NOT_ALLOWED")
    /// The server has an internal error.
    public static let backendError = ValidationStatus(rawValue: "BACKEND_ERROR")
    /// Too few other servers confirmed in time.
    public static let notEnoughAnswers = ValidationStatus(rawValue: "NOT_ENOUGH_ANSWERS")
    /// The same request was answered before.
    public static let replayedRequest = ValidationStatus(rawValue: "REPLAYED_REQUEST")

    /// Whether another server may give a different answer.
    var isTemporary: Bool { self == .backendError || self == .notEnoughAnswers }
    /// Whether the status is a refusal that is accepted unsigned, because the server may have no key to sign with.
    var isUnsigned: Bool {
        [.badSignature, .missingParameter, .noSuchClient, .operationNotAllowed, .backendError].contains(self)
    }
}

/// Why no validation server accepted a password.
public enum OTPValidationError: Error, Hashable, Sendable {
    /// The server rejects the password or the request.
    case refused(ValidationStatus, server: String)
    /// The server rejects the password in a reply without a signature, or with one under an empty key, as some servers
    /// send before they look up the client; anyone could have written it.
    case unsignedRefusal(ValidationStatus, server: String)
    /// The reply is not signed with the client's key.
    case badReplySignature(server: String)
    /// The reply is for another request.
    case otherReply(server: String)
    /// The reply is malformed.
    case malformed(WireError, server: String)
    /// The server answered with an HTTP status that is not 200; a redirect is not followed.
    case http(status: Int, server: String)
    /// The server could not be reached.
    case unreachable(server: String, reason: String)
    /// The URL is not `https://`, and there is no key to authenticate the server.
    case unprotected(server: String)
    /// No random bytes for the nonce, or the operation was cancelled.
    case link(LinkError)
    /// No server is configured.
    case noServer
}
