// SPDX-License-Identifier: Apache-2.0

public import YKHTTP
public import YKWire

/// A second factor of a user, as the server describes it.
public struct Factor: Hashable, Sendable {
    /// The kind of a factor.
    public struct Kind: OpenSet {
        /// The server's word.
        public let rawValue: String
        /// Wraps the server's word.
        public init(rawValue: String) { self.rawValue = rawValue }
        /// A push token.
        public static let push = Kind(rawValue: "push")
        /// Sends a PIN by SMS.
        public static let sms = Kind(rawValue: "sms")
        /// Sends a PIN by email.
        public static let email = Kind(rawValue: "email")
        /// A FIDO2 credential used after a user name.
        public static let webAuthn = Kind(rawValue: "webauthn")
        /// A FIDO2 credential that identifies its user.
        public static let passkey = Kind(rawValue: "passkey")
    }

    /// The state of the enrollment.
    public struct Enrolment: OpenSet {
        /// The server's word.
        public let rawValue: String
        /// Wraps the server's word.
        public init(rawValue: String) { self.rawValue = rawValue }
        /// Complete.
        public static let enrolled = Enrolment(rawValue: "enrolled")
        /// Waiting for the PIN that was sent.
        public static let verify = Enrolment(rawValue: "verify")
    }

    /// The serial number.
    public let serial: String
    /// The kind.
    public let kind: Kind
    /// Whether it is enabled.
    public let isActive: Bool
    /// Whether it is permanently revoked or locked.
    public let isWithdrawn: Bool
    /// The state of the enrollment; a factor that is enrolled in one step may have none.
    public let enrolment: Enrolment?
    /// The number of failed attempts so far.
    public let failCount: Int
    /// The number of failed attempts after which every attempt is refused; 0 for no limit.
    public let maxFail: Int
    /// The description.
    public let description: String
    /// The container that the factor is in.
    public let container: String?
    /// The model of a FIDO2 key (AAGUID), as the server writes it.
    public let aaguid: String?

    /// Describes a factor.
    public init(
        serial: String, kind: Kind, isActive: Bool = true, isWithdrawn: Bool = false, enrolment: Enrolment? = .enrolled,
        failCount: Int = 0, maxFail: Int = 0, description: String = "", container: String? = nil, aaguid: String? = nil
    ) {
        (self.serial, self.kind, self.isActive, self.isWithdrawn) = (serial, kind, isActive, isWithdrawn)
        (self.enrolment, self.failCount, self.maxFail) = (enrolment, failCount, maxFail)
        (self.description, self.container, self.aaguid) = (description, container, aaguid)
    }

    /// Whether its enrollment is complete.
    public var isEnrolled: Bool { enrolment == nil || enrolment == .enrolled }
    /// Whether it can be used for a login.
    public var isUsable: Bool { isActive && !isWithdrawn && isEnrolled }
    /// Whether the fail counter blocks every attempt.
    public var isBlocked: Bool { maxFail > 0 && failCount >= maxFail }
    /// Whether it is a FIDO2 credential.
    public var isKey: Bool { kind == .webAuthn || kind == .passkey }

    init(_ json: JSONValue) throws(ServerError) {
        guard let serial = json["serial"]?.filled, let kind = json["tokentype"]?.filled,
            let isActive = json["active"]?.bool
        else { throw .malformed("a token cannot be read") }
        self.init(
            serial: serial, kind: Kind(rawValue: kind), isActive: isActive,
            isWithdrawn: json["revoked"]?.bool ?? false || json["locked"]?.bool ?? false,
            enrolment: json["rollout_state"]?.filled.map(Enrolment.init), failCount: json["failcount"]?.count ?? 0,
            maxFail: json["maxfail"]?.count ?? 0, description: json["description"]?.string ?? "",
            container: json["container_serial"]?.filled, aaguid: json["info"]?["aaguid"]?.string)
    }
}

/// The factors that a change applies to.
public enum FactorSelection: Hashable, Sendable {
    /// One factor, by its serial number.
    case serial(String)
    /// All factors of a user.
    case user(String, realm: String?)

    var path: String { if case .serial(let serial) = self { "/" + PathSegment.encode(serial) } else { "" } }

    var parameters: JSONValue {
        guard case .user(let user, let realm) = self else { return [:] }
        return ["user": .string(user), "realm": realm.map(JSONValue.string) ?? .null]
    }
}

/// A percent-encoded path segment (RFC 3986 §3.3).
enum PathSegment {
    static func encode(_ text: String) -> String { PercentEncoding.encode(text) }
}

extension PrivacyIDEA {
    /// Performs the first or the second step of an enrollment (`POST /token/init`).
    ///
    /// - Parameters:
    ///   - kind: The kind of token.
    ///   - parameters: Members besides `type`.
    public func initToken(
        _ kind: Factor.Kind, _ parameters: JSONValue
    ) async throws(ServerError) -> PrivacyIDEAAnswer {
        var sent = parameters.object ?? JSONValue.Object()
        sent["type"] = .string(kind.rawValue)
        return try await call(.post, "/token/init", .object(sent))
    }

    /// Returns the tokens of a user, the token with a serial number, or all tokens the caller may see (`GET /token/`),
    /// at most 1000.
    public func tokens(
        user: String? = nil, realm: String? = nil, serial: String? = nil
    ) async throws(ServerError) -> [Factor] {
        let answer = try await call(
            .get, "/token/",
            [
                "user": user.map(JSONValue.string) ?? .null, "realm": realm.map(JSONValue.string) ?? .null,
                "serial": serial.map(JSONValue.string) ?? .null, "pagesize": 1000,
            ])
        guard let rows = answer.value["tokens"]?.array else { throw .malformed("the list of tokens is missing") }
        var tokens: [Factor] = []
        for row in rows { tokens.append(try Factor(row)) }
        return tokens
    }

    /// Enables tokens (`POST /token/enable`).
    ///
    /// - Returns: The number of tokens changed.
    @discardableResult
    public func enable(_ factors: FactorSelection) async throws(ServerError) -> Int {
        try await change("enable", factors)
    }

    /// Disables tokens (`POST /token/disable`).
    ///
    /// - Returns: The number of tokens changed.
    @discardableResult
    public func disable(_ factors: FactorSelection) async throws(ServerError) -> Int {
        try await change("disable", factors)
    }

    /// Resets the fail counter (`POST /token/reset`).
    @discardableResult
    public func resetFailCounter(_ selection: FactorSelection) async throws(ServerError) -> Int {
        try await change("reset", selection)
    }

    private func change(_ verb: String, _ selection: FactorSelection) async throws(ServerError) -> Int {
        try await call(.post, "/token/\(verb)\(selection.path)", selection.parameters).value.count ?? 0
    }

    /// Deletes a token (`DELETE /token/SERIAL`).
    public func delete(_ factor: String) async throws(ServerError) {
        _ = try await call(.delete, "/token/\(PathSegment.encode(factor))")
    }

    /// Finds the counter or clock of a token from two consecutive codes (`POST /token/resync`).
    ///
    /// - Returns: Whether it was found.
    public func resyncToken(
        _ serial: String, _ first: String, _ second: String
    ) async throws(ServerError) -> Bool {
        let answer = try await call(
            .post, "/token/resync", ["serial": .string(serial), "otp1": .string(first), "otp2": .string(second)])
        return answer.value.bool ?? false
    }

    /// Changes settings of a token (`POST /token/set`), such as `description` or `max_failcount`.
    public func setToken(_ serial: String, _ settings: JSONValue) async throws(ServerError) {
        var sent = settings.object ?? JSONValue.Object()
        sent["serial"] = .string(serial)
        _ = try await call(.post, "/token/set", .object(sent))
    }
}
