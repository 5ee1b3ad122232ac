// SPDX-License-Identifier: Apache-2.0

public import YKCrypto
public import YKHTTP
public import YKPrivacyIDEA
public import YKTransport
import YKWire

/// The user's side of push approvals: enrols accounts, fetches requests, and answers them.
///
/// It uses neither a terminal nor files: an app shows ``PushRequest`` in its own dialog, and stores accounts and events
/// where it chooses.
public struct Approver: Sendable {
    /// Maximum duration of one exchange with a server.
    public var timeout = Duration.seconds(30)

    let http: any HTTPClient
    let environment: ServiceEnvironment

    /// Minimum difference from the server's clock, in seconds, that is reported and used.
    static let tolerance: Int64 = 20
    /// Maximum duration of an exchange whose `Date` is used as the time.
    private static let longestTrip = Duration.seconds(5)

    /// Creates an approver.
    ///
    /// - Parameters:
    ///   - http: The HTTP client that sends the requests.
    ///   - environment: The clock and the randomness.
    public init(_ http: any HTTPClient, _ environment: ServiceEnvironment) {
        self.http = http
        self.environment = environment
    }

    /// A reply of the server, and how far its clock is ahead of this one, if known.
    struct Exchange {
        let answer: Result<PrivacyIDEAAnswer, PrivacyIDEAError>
        let offset: Int64?
    }

    /// Sends a request to the enrolled address of an account and to no other.
    func exchange(
        _ method: HTTPMethod, _ url: HTTPURL, _ parameters: JSONValue, _ trust: HTTPTrust
    ) async throws(ApprovalError) -> Exchange {
        var client = PrivacyIDEA(url, http, environment.random)
        client.trust = trust
        client.timeout = timeout
        let start = ContinuousClock.now
        let response: HTTPResponse
        do { response = try await client.exchange(method, "", parameters, as: .form) } catch { throw .server(error) }
        let trip = ContinuousClock.now - start
        let date = trip < Self.longestTrip ? response.date : nil
        let answer = Result { () throws(PrivacyIDEAError) in try PrivacyIDEAAnswer(response) }
        return Exchange(answer: answer, offset: date.map { $0 - environment.clock.now })
    }

    /// Returns the enrolled address of an account.
    ///
    /// - Throws: `malformed`.
    func address(of account: PushAccount) throws(ApprovalError) -> HTTPURL {
        do { return try HTTPURL(account.url) } catch { throw .malformed(error.description) }
    }
}

extension Approver {
    /// The result of an enrolment.
    public struct Enrolment: Sendable {
        /// The account, which must be stored in any case.
        public let account: PushAccount
        /// The reason that the server refused the first poll with the new key; `nil` if it was accepted, which proves
        /// the account.
        public let problem: ApprovalError?
    }

    /// Enrols an account: signs with the key first, sends the public half to the server, and polls once.
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
        // Without padding the server accepts the key, but then answers each poll with 500.
        let sent: JSONValue = [
            "serial": .string(link.serial), "enrollment_credential": .string(link.credential.text),
            "fbtoken": .string(address ?? ""),
            "pubkey": .string(Base64.encodeURL(key.publicKey.subjectPublicKeyInfo, padded: true)),
        ]
        let exchange = try await exchange(.post, link.url, sent, trust)
        let answer: PrivacyIDEAAnswer
        do { answer = try exchange.answer.get() } catch {
            guard case .refused(400...404, _, let message) = error else { throw ApprovalError.server(error) }
            throw ApprovalError.enrolmentRefused(message)
        }
        guard let serverKey = answer.detail["public_key"]?.string.flatMap(Self.serverKey) else {
            throw ApprovalError.malformed("the server's key is not RSA of 2048 to 8192 bits")
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
    /// - Returns: The enrolment link.
    /// - Throws: `server`, or `malformed`.
    public func requestLink(
        _ server: HTTPURL, user: String, _ password: SharedSecret, trust: HTTPTrust = HTTPTrust()
    ) async throws(ApprovalError) -> PushLink {
        let client = try await signIn(server, user: user, password, trust: trust)
        do throws(PrivacyIDEAError) {
            let answer = try await client.initToken(.push, ["genkey": 1])
            guard let text = answer.detail["pushurl"]?["value"]?.string else {
                throw PrivacyIDEAError.malformed("the answer has no enrolment link")
            }
            let link: PushLink
            do { link = try PushLink(text) } catch { throw .malformed("the server's enrolment link: \(error)") }
            return link
        } catch { throw .server(error) }
    }

    /// Signs a user in; the client then acts on behalf of that user.
    ///
    /// - Throws: `server`.
    public func signIn(
        _ server: HTTPURL, user: String, _ password: SharedSecret, trust: HTTPTrust = HTTPTrust()
    ) async throws(ApprovalError) -> PrivacyIDEA {
        var client = PrivacyIDEA(server, http, environment.random)
        client.trust = trust
        client.timeout = timeout
        do throws(PrivacyIDEAError) {
            client.credentials = .token(try await client.logIn(user, password: password.value).token)
            return client
        } catch { throw .server(error) }
    }

    /// Reads the server's key: base 64 of an RSAPublicKey (RFC 8017 §A.1.1), on several lines.
    private static func serverKey(_ text: String) -> PublicKey? {
        guard text.utf8.count <= 4096, let der = try? Base64.decode(text.filter { !$0.isWhitespace }),
            let key = try? PublicKey(rsaPublicKey: der), case .rsa(let modulus, _) = key,
            (256...1024).contains(modulus.count)
        else { return nil }
        return key
    }
}

extension SharedSecret {
    /// The secret as a string, for a message that must contain it.
    var text: String { value.withBytes { String(decoding: $0, as: UTF8.self) } }
}
