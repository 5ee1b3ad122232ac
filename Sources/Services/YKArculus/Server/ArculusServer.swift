// SPDX-License-Identifier: Apache-2.0

public import YKFIDO
public import YKHTTP

/// A FIDO server and how it is spoken to: what Arculus' SDK calls ArculusFidoServer.
public struct ArculusServer: Hashable, Sendable {
    /// How requests are written.
    public enum Dialect: String, Hashable, Sendable, CaseIterable {
        /// As the Arculus REST reference has it: wishes as members of their own.
        case arculus
        /// As the FIDO conformance tests have it: wishes in `authenticatorSelection`.
        case conformance
    }

    /// The four addresses.
    public struct Endpoints: Hashable, Sendable {
        /// Where a registration begins.
        public var registrationBegin: HTTPURL
        /// Where it is completed.
        public var registrationComplete: HTTPURL
        /// Where an authentication begins.
        public var authenticationBegin: HTTPURL
        /// Where it is completed.
        public var authenticationComplete: HTTPURL

        /// All four.
        var all: [HTTPURL] { [registrationBegin, registrationComplete, authenticationBegin, authenticationComplete] }
    }

    /// Paths that servers usually have.
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

        /// How requests to such a server are written.
        public var dialect: Dialect { self == .conformance ? .conformance : .arculus }
    }

    /// Where it is.
    public var endpoints: Endpoints
    /// How requests are written.
    public var dialect: Dialect
    /// The relying party that it has to speak for; `nil` for the one that it names.
    public var rpID: String?
    /// Who asks, in the client data: the server's own origin unless told otherwise.
    public var origin: Origin
    /// Whose word is taken for who the server is.
    public var trust = HTTPTrust()
    /// How long each request may take.
    public var timeout = Duration.seconds(30)
    /// The most bytes that are read of an answer.
    public var limit = 1 << 20

    /// Describes a server by its base address and the paths behind it.
    ///
    /// Throws `configuration` when an endpoint is no address, is at another origin, or the origin can have no
    /// credentials.
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

    /// Describes a server with the usual paths.
    public init(_ base: String, _ preset: Preset, rpID: String? = nil) throws(ArculusError) {
        try self.init(base, paths: preset.paths, dialect: preset.dialect, rpID: rpID)
    }

    private static func url(_ text: String) throws(ArculusError) -> HTTPURL {
        do { return try HTTPURL(text) } catch { throw .configuration("\(error)") }
    }
}
