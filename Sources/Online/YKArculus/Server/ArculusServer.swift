// SPDX-License-Identifier: Apache-2.0

public import YKFIDO
public import YKHTTP
import YKTransport
import YKWire

/// A FIDO server and its protocol variant: the SDK's ArculusFidoServer.
public struct ArculusServer: Hashable, Sendable {
    /// The request format.
    public enum Dialect: String, Hashable, Sendable, CaseIterable {
        /// The format of the Arculus REST reference: options as members of their own.
        case arculus
        /// The format of the FIDO conformance tests: options in `authenticatorSelection`.
        case conformance
    }

    /// The four endpoints.
    public struct Endpoints: Hashable, Sendable {
        /// Starts a registration.
        public var registrationBegin: HTTPURL
        /// Completes a registration.
        public var registrationComplete: HTTPURL
        /// Starts an authentication.
        public var authenticationBegin: HTTPURL
        /// Completes an authentication.
        public var authenticationComplete: HTTPURL

        /// All four endpoints.
        var all: [HTTPURL] { [registrationBegin, registrationComplete, authenticationBegin, authenticationComplete] }
    }

    /// The paths of common servers.
    public enum Preset: String, Hashable, Sendable, CaseIterable {
        /// Arculus' `/fidoapi/certify/attestation/options` and so on.
        case arculus
        /// Arculus' `/fidoapi/register/begin` and so on.
        case arculusRegister = "arculus-register"
        /// Arculus' `/fidoapi/attestation/options` and so on.
        case arculusShort = "arculus-short"
        /// The FIDO conformance tests' `/attestation/options` and so on.
        case conformance

        /// The paths in the order of ``Endpoints``.
        public var paths: [String] {
            switch self {
            case .arculus: Self.conformance.paths.map { "/fidoapi/certify" + $0 }
            case .arculusShort: Self.conformance.paths.map { "/fidoapi" + $0 }
            case .arculusRegister:
                ["register/begin", "register/complete", "authenticate/begin", "authenticate/complete"].map {
                    "/fidoapi/" + $0
                }
            case .conformance:
                ["/attestation/options", "/attestation/result", "/assertion/options", "/assertion/result"]
            }
        }

        /// The request format of such a server.
        public var dialect: Dialect { self == .conformance ? .conformance : .arculus }
    }

    /// The endpoints.
    public var endpoints: Endpoints
    /// The request format.
    public var dialect: Dialect
    /// The required relying party; `nil` for the one that the server names.
    public var rpID: String?
    /// The origin in the client data; by default the server's own origin.
    public var origin: Origin
    /// How the server is authenticated.
    public var trust = HTTPTrust()
    /// Timeout for a request.
    public var timeout = Duration.seconds(30)
    /// Maximum size of an answer in bytes.
    public var limit = 1 << 20

    /// Creates a server from its base address and the paths of its endpoints.
    ///
    /// - Throws: `configuration` if an endpoint is not a valid address or has another origin, or if the origin cannot
    ///   have credentials.
    public init(
        _ base: String, paths: [String] = Preset.arculus.paths, dialect: Dialect = .arculus, rpID: String? = nil,
        origin: String? = nil
    ) throws(ArculusError) {
        guard paths.count == 4 else { throw .configuration("a server has four endpoints") }
        let home = try Self.url(base)
        var urls: [HTTPURL] = []
        for path in paths {
            let folder = base.last == "/" ? String(base.dropLast()) : base
            let url = try Self.url(path.contains("://") ? path : folder + (path.hasPrefix("/") ? path : "/" + path))
            guard url.origin == home.origin else {
                throw .configuration("\(url) is not at \(home.origin): cookies and credentials would go elsewhere")
            }
            urls.append(url)
        }
        endpoints = Endpoints(
            registrationBegin: urls[0], registrationComplete: urls[1], authenticationBegin: urls[2],
            authenticationComplete: urls[3])
        self.dialect = dialect
        self.rpID = rpID
        do { self.origin = try Origin(origin ?? home.origin) } catch {
            throw .configuration("\(error); name the origin that the server expects")
        }
    }

    /// Creates a server with common paths.
    public init(_ base: String, _ preset: Preset, rpID: String? = nil) throws(ArculusError) {
        try self.init(base, paths: preset.paths, dialect: preset.dialect, rpID: rpID)
    }

    private static func url(_ text: String) throws(ArculusError) -> HTTPURL {
        do { return try HTTPURL(text) } catch { throw .configuration("\(error)") }
    }
}

extension ArculusServer {
    /// The members of a description, as listed in messages.
    private static let known: Set<String> = [
        "url", "paths", "dialect", "rpId", "origin", "pins", "authorities", "timeout", "limit",
        "registrationBeginEndpoint", "registrationCompleteEndpoint", "authenticationBeginEndpoint",
        "authenticationCompleteEndpoint",
    ]
    private static let endpointNames = [
        "registrationBeginEndpoint", "registrationCompleteEndpoint", "authenticationBeginEndpoint",
        "authenticationCompleteEndpoint",
    ]

    /// Reads a description of a server: a JSON object with `url` and settings that differ from the defaults: `paths`
    /// (`arculus`, `arculus-register`, `arculus-short`, `conformance`) or the four endpoints by name, `dialect`,
    /// `rpId`, `origin`, `pins`, `authorities`, `timeout` in seconds, `limit` in bytes.
    ///
    /// - Throws: `configuration` with the invalid or unknown member.
    public init(parsing text: [UInt8]) throws(ArculusError) {
        let json: JSONValue
        do { json = try JSONValue(parsing: text) } catch { throw .configuration("not JSON: \(error)") }
        guard let object = json.object else { throw .configuration("the description of a server is a JSON object") }
        if let other = object.members.first(where: { !Self.known.contains($0.key) }) {
            throw .configuration("'\(other.key)' is not known in the description of a server")
        }
        guard let base = try Self.text(object, "url") else { throw .configuration("'url' is missing") }
        let preset = try Self.choice(object, "paths", Preset.self) ?? .arculus
        var paths = preset.paths
        for (index, name) in Self.endpointNames.enumerated() {
            paths[index] = try Self.text(object, name) ?? paths[index]
        }
        try self.init(
            base, paths: paths, dialect: try Self.choice(object, "dialect", Dialect.self) ?? preset.dialect,
            rpID: try Self.text(object, "rpId"), origin: try Self.text(object, "origin"))
        trust = HTTPTrust(authorities: try Self.text(object, "authorities"), pins: try Self.pins(object))
        if let seconds = try Self.number(object, "timeout", 1...600) { timeout = .seconds(seconds) }
        if let bytes = try Self.number(object, "limit", 1024...(64 << 20)) { limit = bytes }
    }

    private static func text(_ object: JSONValue.Object, _ key: String) throws(ArculusError) -> String? {
        guard let value = object[key], value != .null else { return nil }
        guard let text = value.string, !text.isEmpty else { throw .configuration("'\(key)' must be a string") }
        return text
    }

    private static func choice<Choice: RawRepresentable & CaseIterable>(
        _ object: JSONValue.Object, _ key: String, _ type: Choice.Type
    ) throws(ArculusError) -> Choice? where Choice.RawValue == String {
        guard let text = try text(object, key) else { return nil }
        guard let choice = Choice(rawValue: text) else {
            throw .configuration("'\(key)' must be one of \(Choice.allCases.map(\.rawValue).joined(separator: ", "))")
        }
        return choice
    }

    private static func number(
        _ object: JSONValue.Object, _ key: String, _ range: ClosedRange<Int>
    ) throws(ArculusError) -> Int? {
        guard let value = object[key], value != .null else { return nil }
        guard let number = value.int.flatMap({ Int(exactly: $0) }), range.contains(number) else {
            throw .configuration("'\(key)' must be a number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    private static func pins(_ object: JSONValue.Object) throws(ArculusError) -> [HTTPPin] {
        guard let value = object["pins"], value != .null else { return [] }
        guard let texts = value.array?.map(\.string), !texts.contains(nil) else {
            throw .configuration("'pins' must be an array of strings")
        }
        var pins: [HTTPPin] = []
        for text in texts.compactMap({ $0 }) {
            do { pins.append(try HTTPPin(text)) } catch { throw .configuration("\(error)") }
        }
        return pins
    }
}

/// The requests of one operation: the cookie of the first is sent with the second and then discarded.
struct ServerConversation {
    let server: ArculusServer
    let http: any HTTPClient
    private var cookies = HTTPCookies()

    init(_ server: ArculusServer, _ http: any HTTPClient) {
        self.server = server
        self.http = http
    }

    /// Posts a body and reads the answer.
    ///
    /// - Throws: `http`, `server` or `reply`.
    mutating func post(_ body: JSONValue, to url: HTTPURL) async throws(ArculusError) -> ArculusReply {
        var request = HTTPRequest(post: url, Array(body.text.utf8), type: "application/json")
        request.fields.append(HTTPField("Accept", "application/json"))
        request.cookies = cookies
        request.timeout = server.timeout
        request.limit = server.limit
        request.trust = server.trust
        // All data that WebAuthn sends over the network is public: challenges, credentials and signatures.
        request.secrets = HTTPSecrets(request: [], answer: [])
        let response: HTTPResponse
        do { response = try await http.send(request) } catch { throw .http(error) }
        cookies = response.cookies
        return try ArculusReply(response)
    }
}
