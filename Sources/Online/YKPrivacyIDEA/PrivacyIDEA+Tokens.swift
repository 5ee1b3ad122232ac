// SPDX-License-Identifier: Apache-2.0

public import YKHTTP
public import YKWire

/// A token as described by the server.
public struct PrivacyIDEAToken: Hashable, Sendable {
    /// The kind of a token.
    public struct Kind: OpenSet {
        /// The server's word.
        public let rawValue: String
        /// Wraps the server's word.
        public init(rawValue: String) { self.rawValue = rawValue }
        /// A push token.
        public static let push = Kind(rawValue: "push")
        /// A token that sends a PIN by SMS.
        public static let sms = Kind(rawValue: "sms")
        /// A token that sends a PIN by email.
        public static let email = Kind(rawValue: "email")
        /// A FIDO2 credential used after a user name.
        public static let webAuthn = Kind(rawValue: "webauthn")
        /// A FIDO2 credential that identifies its user.
        public static let passkey = Kind(rawValue: "passkey")
    }

    /// The state of the enrollment.
    public struct RolloutState: OpenSet {
        /// The server's word.
        public let rawValue: String
        /// Wraps the server's word.
        public init(rawValue: String) { self.rawValue = rawValue }
        /// Complete.
        public static let enrolled = RolloutState(rawValue: "enrolled")
        /// Waiting for the PIN that was sent (policy `verify_enrollment`).
        public static let verify = RolloutState(rawValue: "verify")
        /// Waiting for the device.
        public static let clientWait = RolloutState(rawValue: "clientwait")
    }

    /// The serial number.
    public let serial: String
    /// The kind of the token.
    public let kind: Kind
    /// Whether it is enabled.
    public let isActive: Bool
    /// Whether it was permanently revoked.
    public let isRevoked: Bool
    /// Whether it is locked.
    public let isLocked: Bool
    /// The state of the enrollment; tokens enrolled in one step have `enrolled` or no state.
    public let rolloutState: RolloutState?
    /// The number of failed attempts so far.
    public let failCount: Int
    /// The number of failed attempts after which every attempt is refused.
    public let maxFail: Int
    /// The description.
    public let description: String
    /// The container of the token.
    public let container: String?
    /// The owner of the token.
    public let user: String?
    /// Further values stored by the server, such as `aaguid` or `phone`.
    public let info: JSONValue

    /// Whether the token can be used for a login.
    public var isUsable: Bool {
        isActive && !isRevoked && !isLocked && (rolloutState == nil || rolloutState == .enrolled)
    }
    /// Whether the fail counter blocks every attempt.
    public var isBlocked: Bool { maxFail > 0 && failCount >= maxFail }

    init(_ json: JSONValue) throws(ServerError) {
        guard let serial = json["serial"]?.filled, let kind = json["tokentype"]?.filled,
            let isActive = json["active"]?.bool
        else { throw .malformed("a token cannot be read") }
        self.serial = serial
        self.kind = Kind(rawValue: kind)
        self.isActive = isActive
        isRevoked = json["revoked"]?.bool ?? false
        isLocked = json["locked"]?.bool ?? false
        rolloutState = json["rollout_state"]?.filled.map(RolloutState.init)
        failCount = json["failcount"]?.count ?? 0
        maxFail = json["maxfail"]?.count ?? 0
        description = json["description"]?.string ?? ""
        container = json["container_serial"]?.filled
        user = json["username"]?.filled
        info = json["info"] ?? [:]
    }
}

/// The tokens that an administrator's call applies to.
public enum TokenSelection: Hashable, Sendable {
    /// One token.
    case serial(String)
    /// All tokens of a user.
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
        _ kind: PrivacyIDEAToken.Kind, _ parameters: JSONValue
    ) async throws(ServerError) -> PrivacyIDEAAnswer {
        var sent = parameters.object ?? JSONValue.Object()
        sent["type"] = .string(kind.rawValue)
        return try await call(.post, "/token/init", .object(sent))
    }

    /// Returns the tokens of a user, the token with a serial number, or all tokens the caller may see (`GET /token/`),
    /// at most 1000.
    public func tokens(
        user: String? = nil, realm: String? = nil, serial: String? = nil
    ) async throws(ServerError) -> [PrivacyIDEAToken] {
        let answer = try await call(
            .get, "/token/",
            [
                "user": user.map(JSONValue.string) ?? .null, "realm": realm.map(JSONValue.string) ?? .null,
                "serial": serial.map(JSONValue.string) ?? .null, "pagesize": 1000,
            ])
        guard let rows = answer.value["tokens"]?.array else { throw .malformed("the list of tokens is missing") }
        var tokens: [PrivacyIDEAToken] = []
        for row in rows { tokens.append(try PrivacyIDEAToken(row)) }
        return tokens
    }

    /// Enables tokens (`POST /token/enable`).
    ///
    /// - Returns: The number of tokens changed.
    @discardableResult
    public func enableTokens(_ selection: TokenSelection) async throws(ServerError) -> Int {
        try await change("enable", selection)
    }

    /// Disables tokens (`POST /token/disable`).
    ///
    /// - Returns: The number of tokens changed.
    @discardableResult
    public func disableTokens(_ selection: TokenSelection) async throws(ServerError) -> Int {
        try await change("disable", selection)
    }

    /// Resets the fail counter (`POST /token/reset`).
    @discardableResult
    public func resetFailCounter(_ selection: TokenSelection) async throws(ServerError) -> Int {
        try await change("reset", selection)
    }

    private func change(_ verb: String, _ selection: TokenSelection) async throws(ServerError) -> Int {
        try await call(.post, "/token/\(verb)\(selection.path)", selection.parameters).value.count ?? 0
    }

    /// Deletes a token (`DELETE /token/SERIAL`).
    public func deleteToken(_ serial: String) async throws(ServerError) {
        _ = try await call(.delete, "/token/\(PathSegment.encode(serial))")
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
