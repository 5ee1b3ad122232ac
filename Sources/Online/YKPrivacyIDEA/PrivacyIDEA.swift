// SPDX-License-Identifier: Apache-2.0

public import YKCrypto
public import YKHTTP
public import YKTransport
public import YKWire

/// A client of a privacyIDEA server, with its credentials and trust settings.
///
/// Every request is one HTTP exchange, and no state is kept between requests. If the server's audit key is set, each
/// answer must carry a valid signature over the nonce of its request.
public struct PrivacyIDEA: Sendable {
    /// The credentials of the caller.
    public enum Credentials: Sendable {
        /// No credentials; sufficient for `/validate/check` and for requests sent by devices.
        case none
        /// The JSON Web Token that `/auth` issued to an administrator, a service account or a user.
        case token(SharedSecret)
        /// The API key of a registered client.
        case apiKey(SharedSecret)
    }

    /// The encoding of parameters in a request body.
    public enum Encoding: Hashable, Sendable {
        /// `application/json`.
        case json
        /// `application/x-www-form-urlencoded`.
        case form
    }

    /// The server's base address, to which request paths are appended.
    public let server: HTTPURL
    /// The credentials of the caller.
    public var credentials = Credentials.none
    /// An API key in addition to the credentials, for calls on behalf of a registered client.
    public var apiKey: SharedSecret?
    /// The origin of FIDO2 ceremonies, sent as the header field `Origin`.
    public var origin: String?
    /// The server's audit key. If set, an answer without a valid signature is refused.
    public var auditKey: PublicKey?
    /// How the server is authenticated.
    public var trust = HTTPTrust()
    /// Maximum duration of a request.
    public var timeout = Duration.seconds(30)
    /// Maximum size of an answer in bytes.
    public var limit = 1 << 20

    /// The session of the last login.
    var session: ServerSession?
    private let http: any HTTPClient
    private let random: any RandomSource

    /// Creates a client.
    ///
    /// - Parameters:
    ///   - server: The address of the server, including the path of its installation.
    ///   - http: The HTTP client that sends the requests.
    ///   - random: The source of nonces.
    public init(_ server: HTTPURL, _ http: any HTTPClient, _ random: any RandomSource) {
        self.server = server
        self.http = http
        self.random = random
    }

    /// Sends a request and reads the answer's envelope.
    ///
    /// - Parameters:
    ///   - path: The path below ``server``, beginning with a slash; empty for the base address itself.
    ///   - parameters: An object. Members that are `null` are omitted. GET and DELETE send them in the query.
    ///   - encoding: The encoding of the body.
    ///   - fields: Further header fields.
    ///   - isFresh: Whether to send a nonce if there is an audit key. Without a nonce the signature does not
    ///     distinguish the answer from an older one.
    /// - Returns: An answer whose `result.status` is true; its content says whether the request was granted.
    /// - Throws: `refused` with the server's own reason, `http`, `status`, `malformed`, `signature` or `random`.
    public func call(
        _ method: HTTPMethod, _ path: String, _ parameters: JSONValue = [:], as encoding: Encoding = .json,
        fields: [HTTPField] = [], isFresh: Bool = true
    ) async throws(ServerError) -> PrivacyIDEAAnswer {
        var sent = parameters.object ?? JSONValue.Object()
        var nonce = sent["nonce"]?.string
        if auditKey != nil, nonce == nil, isFresh {
            nonce = try makeNonce()
            sent["nonce"] = nonce.map(JSONValue.string)
        }
        let response = try await exchange(method, path, .object(sent), as: encoding, fields: fields)
        return try PrivacyIDEAAnswer(response, auditKey: auditKey, nonce: nonce)
    }

    /// Sends a request and returns the raw answer, for the few endpoints without an envelope.
    ///
    /// - Throws: `http` or `malformed`.
    public func exchange(
        _ method: HTTPMethod, _ path: String, _ parameters: JSONValue = [:], as encoding: Encoding = .json,
        fields: [HTTPField] = []
    ) async throws(ServerError) -> HTTPResponse {
        let members = (parameters.object?.members ?? []).filter { $0.value != .null }
        var address = server.description
        if !path.isEmpty, address.hasSuffix("/") { address.removeLast() }
        address += path
        var body: [UInt8]?
        var type: String?
        switch (method, encoding) {
        case (.get, _), (.delete, _):
            let query = Self.form(members)
            if !query.isEmpty { address += (address.contains(bytesOf: "?") ? "&" : "?") + query }
        case (_, .json): (body, type) = (Array(Self.object(members).text.utf8), "application/json")
        case (_, .form): (body, type) = (Array(Self.form(members).utf8), "application/x-www-form-urlencoded")
        }
        do {
            var request = HTTPRequest(method, try HTTPURL(address), body, type: type)
            request.fields += header + fields
            request.trust = trust
            request.timeout = timeout
            request.limit = limit
            request.secrets = Self.secrets
            return try await http.send(request)
        } catch { throw .http(error) }
    }

    /// Values excluded from recordings: passwords, PINs, codes, seeds, and anything that enrolls or signs in.
    private static let secrets = HTTPSecrets(
        request: [
            "password", "pass", "pin", "otppin", "otpkey", "otp", "otp1", "otp2", "verify", "secret", "response",
            "passphrase",
            "passphrase_response", "enrollment_credential", "refilltoken",
        ],
        answer: [
            "token", "api_key", "password", "otpkey", "registrationcode", "googleurl", "oathurl", "pushurl",
            "tiqrenroll", "container_url", "enrollment_credential", "display_code", "auth_items", "refilltoken",
        ])

    private var header: [HTTPField] {
        var header = [HTTPField("Accept", "application/json")]
        if let origin { header.append(HTTPField("Origin", origin)) }
        switch credentials {
        case .none: break
        case .token(let token): header.append(Self.field("Authorization", token))
        case .apiKey(let key): header.append(Self.field("X-API-Key", key))
        }
        if let apiKey { header.append(Self.field("X-API-Key", apiKey)) }
        return header
    }

    private static func field(_ name: String, _ secret: SharedSecret) -> HTTPField {
        HTTPField(name, secret.value.text())
    }

    private func makeNonce() throws(ServerError) -> String {
        do { return Hex.encode(try random.draw(16, secret: false)) } catch { throw .random }
    }

    private static func object(_ members: [JSONValue.Object.Member]) -> JSONValue {
        var object = JSONValue.Object()
        for member in members { object[member.key] = member.value }
        return .object(object)
    }

    private static func form(_ members: [JSONValue.Object.Member]) -> String {
        members.map { "\(PercentEncoding.encode($0.key))=\(PercentEncoding.encode(text($0.value)))" }
            .joined(separator: "&")
    }

    private static func text(_ value: JSONValue) -> String { value.string ?? value.text }
}
