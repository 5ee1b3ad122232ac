// SPDX-License-Identifier: Apache-2.0

public import YKCrypto
public import YKHTTP
public import YKTransport
import YKWire

/// The user's side of push approvals: enrolls accounts, fetches requests, and answers them.
///
/// It uses neither a terminal nor files: an app shows ``PushRequest`` in its own dialog, and stores accounts and events
/// where it chooses.
public struct Approver: Sendable {
    /// Maximum duration of one exchange with a server.
    public var timeout = Duration.seconds(30)

    let environment: ServiceEnvironment
    private let connect: Connector

    /// Minimum difference from the server's clock, in seconds, that is reported and used.
    static let tolerance: Int64 = 20
    /// Maximum duration of an exchange whose `Date` is used as the time.
    private static let longestTrip = Duration.seconds(5)

    /// Makes the client of a server at an address, with a timeout for each exchange.
    public typealias Connector = @Sendable (HTTPURL, HTTPTrust, _ timeout: Duration) -> any ApprovalServer

    /// Creates an approver.
    ///
    /// - Parameters:
    ///   - environment: The clock and the randomness.
    ///   - connect: How servers are reached.
    public init(_ environment: ServiceEnvironment, connect: @escaping Connector) {
        self.environment = environment
        self.connect = connect
    }

    /// A reply of the server, and how far its clock is ahead of this one, if known.
    struct Exchange<Value: Sendable> {
        let content: Result<Value, ServerError>
        let offset: Int64?
    }

    /// Sends a request to the enrolled address of an account and to no other.
    func exchange<Value>(
        _ url: HTTPURL, _ trust: HTTPTrust,
        _ ask: (any ApprovalServer) async throws(ServerError) -> ServerReply<Value>
    ) async throws(ApprovalError) -> Exchange<Value> {
        let start = ContinuousClock.now
        let reply: ServerReply<Value>
        do { reply = try await ask(server(url, trust)) } catch { throw .server(error) }
        let trip = ContinuousClock.now - start
        let date = trip < Self.longestTrip ? reply.date : nil
        return Exchange(content: reply.content, offset: date.map { $0 - environment.clock.now })
    }

    /// Returns the server at an address.
    func server(_ url: HTTPURL, _ trust: HTTPTrust) -> any ApprovalServer { connect(url, trust, timeout) }

    /// Returns the enrolled address of an account.
    ///
    /// - Throws: `malformed`.
    func address(of account: PushAccount) throws(ApprovalError) -> HTTPURL {
        do { return try HTTPURL(account.url) } catch { throw .malformed(error.description) }
    }

    /// The result of an enrollment.
    public struct Enrolment: Sendable {
        /// The account, which must be stored in any case.
        public let account: PushAccount
        /// The reason that the server refused the first poll with the new key; `nil` if it was accepted, which proves
        /// the account.
        public let problem: ApprovalError?
    }

    /// Enrolls an account: signs with the key first, sends the public half to the server, and polls once.
    ///
    /// - Parameters:
    ///   - name: The display name.
    ///   - key: The account's key, RSA.
    ///   - place: The location of the private key.
    ///   - address: The address to which the server should deliver requests; `nil` to only fetch them.
    ///   - trust: How the server is authenticated.
    ///   - proof: The proof that the user must give before each approval.
    /// - Throws: `unsupportedKey` before anything is sent; `enrolmentRefused`, `possession`, `server`, or the error of
    ///   the key.
    public func enroll(
        _ link: PushLink, name: String, _ key: some ApprovalKey, _ place: ApprovalKeyPlace, address: String? = nil,
        trust: HTTPTrust = HTTPTrust(), proof: UserProof? = nil
    ) async throws -> Enrolment {
        guard case .rsa = key.publicKey else { throw ApprovalError.unsupportedKey("a key that is not RSA") }
        let timestamp = UTCDate.timestamp(environment.clock.now)
        let signature = try await key.signed(PushText.poll(serial: link.serial, timestamp: timestamp))
        let exchange = try await exchange(link.url, trust) { server throws(ServerError) in
            try await server.register(
                key.publicKey, serial: link.serial, credential: link.credential, address: address)
        }
        let registration: PushRegistration
        do { registration = try exchange.content.get() } catch { throw ApprovalError.server(error) }
        let serverKey: PublicKey
        switch registration {
        case .refused(let message): throw ApprovalError.enrolmentRefused(message)
        case .accepted(nil):
            throw ApprovalError.malformed("the server's key is not RSA of 2048 to 8192 bits")
        case .accepted(let key?): serverKey = key
        }
        let account = PushAccount(
            link, name: name, serverKey: serverKey, publicKey: key.publicKey, place: place, address: address,
            trust: trust, added: environment.clock.now, proof: proof)
        do {
            _ = try await poll(account, timestamp, signature)
            return Enrolment(account: account, problem: nil)
        } catch {
            let behind = exchange.offset ?? 0
            let isClock = error == .pollRefused && behind.magnitude > UInt64(Self.tolerance)
            return Enrolment(account: account, problem: isClock ? .clock(behind: .seconds(behind)) : error)
        }
    }

    /// Signs a user in with the password, or a registration code if the server's policy accepts one, and requests a
    /// push token for that user.
    ///
    /// - Parameters:
    ///   - server: The server's address, without a path of its interface.
    /// - Returns: The enrollment link.
    /// - Throws: `server`, or `malformed`.
    public func requestLink(
        _ server: HTTPURL, user: String, _ password: SharedSecret, trust: HTTPTrust = HTTPTrust()
    ) async throws(ApprovalError) -> PushLink {
        let session = try await signIn(server, user: user, password, trust: trust)
        let text: String
        do { text = try await session.requestLink() } catch { throw .server(error) }
        do { return try PushLink(text) } catch {
            throw .server(.malformed("the server's enrollment link: \(error)"))
        }
    }

    /// Signs a user in; the session then acts on behalf of that user.
    ///
    /// - Throws: `server`.
    public func signIn(
        _ server: HTTPURL, user: String, _ password: SharedSecret, trust: HTTPTrust = HTTPTrust()
    ) async throws(ApprovalError) -> any ApprovalServerSession {
        do { return try await self.server(server, trust).signIn(user, password) } catch { throw .server(error) }
    }
}

extension SharedSecret {
    /// The secret as a string, for a message that must contain it.
    var text: String { value.withBytes { String(decoding: $0, as: UTF8.self) } }
}
