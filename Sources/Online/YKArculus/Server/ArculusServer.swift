// SPDX-License-Identifier: Apache-2.0

public import YKFIDO
public import YKHTTP

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
