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
