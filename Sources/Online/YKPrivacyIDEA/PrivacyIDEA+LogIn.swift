// SPDX-License-Identifier: Apache-2.0

public import YKCrypto
public import YKHTTP
public import YKWire

/// An account on a server, on whose behalf requests are made.
public struct ServerAccount: Hashable, Sendable {
    /// What the account may do, in the server's word.
    public let role: String
    /// The account's name.
    public let name: String
    /// The account's realm; empty for local administrators.
    public let realm: String
    /// Whether the account may act only for itself: for these a server may ignore the user that a request names.
    public let actsOnlyForItself: Bool

    /// Describes an account.
    public init(role: String, name: String, realm: String, actsOnlyForItself: Bool) {
        (self.role, self.name, self.realm, self.actsOnlyForItself) = (role, name, realm, actsOnlyForItself)
    }

    /// Reads the answer to a login, or the claims of a token, which the server verifies; `nil` if they name no role. For
    /// users the server ignores the user that a request names, and acts on the account's own tokens.
    init?(_ json: JSONValue?) {
        guard let json, let role = json["role"]?.filled else { return nil }
        self.init(
            role: role, name: json["username"]?.string ?? "", realm: json["realm"]?.string ?? "",
            actsOnlyForItself: role == "user")
    }
}

/// A login session.
public struct ServerSession: Sendable {
    /// The token that proves it.
    public let token: SharedSecret
    /// The account that is logged in.
    public let account: ServerAccount
    /// The expiry, in seconds since 1970-01-01 00:00 UTC; `nil` if it has none.
    public let expiry: Int64?

    /// Describes a session.
    public init(token: SharedSecret, account: ServerAccount, expiry: Int64?) {
        (self.token, self.account, self.expiry) = (token, account, expiry)
    }

    init(_ value: JSONValue) throws(ServerError) {
        guard let token = value["token"]?.filled, let account = ServerAccount(value) else {
            throw .malformed("the login has no token")
        }
        self.init(token: SharedSecret(Secret(utf8: token)), account: account, expiry: Self.expiry(token))
    }

    /// Returns the claim `exp` of a JSON Web Token (RFC 7519 §4.1.4), in seconds since 1970-01-01 00:00 UTC.
    public static func expiry(_ token: String) -> Int64? {
        claims(token)?["exp"]?.number.flatMap { Int64(exactly: $0.rounded(.down)) }
    }

    /// Returns the claims of a JSON Web Token; `nil` if the text is not one.
    static func claims(_ token: String) -> JSONValue? {
        let parts = token.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let claims = try? Base64.decode(parts[1]) else { return nil }
        return try? JSONValue(parsing: claims)
    }
}

/// A passkey ceremony that the server opened without a user name.
public struct PasskeyChallenge: Hashable, Sendable {
    /// The challenge: the UTF-8 bytes of the server's string.
    public let challenge: [UInt8]
    /// The relying party.
    public let rpID: String
    /// `required`, `preferred` or `discouraged`.
    public let userVerification: String
    /// The transaction, which the answer names.
    public let transactionID: String

    /// Describes a ceremony.
    public init(challenge: [UInt8], rpID: String, userVerification: String = "preferred", transactionID: String) {
        (self.challenge, self.rpID, self.transactionID) = (challenge, rpID, transactionID)
        self.userVerification = userVerification
    }

    init(_ json: JSONValue?) throws(ServerError) {
        guard let json, let challenge = json["challenge"]?.filled, let rpID = json["rpId"]?.filled,
            let id = json["transaction_id"]?.filled
        else { throw .malformed("the passkey challenge is incomplete") }
        self.init(
            challenge: Array(challenge.utf8), rpID: rpID,
            userVerification: (json["user_verification"] ?? json["userVerification"])?.string ?? "preferred",
            transactionID: id)
    }
}

extension PrivacyIDEA {
    /// The account whose token is in ``credentials``; `nil` without a token, and for one that names no role.
    public var account: ServerAccount? {
        guard case .token(let token) = credentials else { return nil }
        if let session, token === session.token { return session.account }
        return ServerAccount(ServerSession.claims(token.value.text()))
    }

    /// Logs in with a password (`POST /auth`), and uses the session for the calls that follow.
    ///
    /// - Parameters:
    ///   - account: An administrator or a user of the self-service, optionally with `@realm`.
    /// - Throws: `refused` with code 4031 for wrong credentials.
    @discardableResult
    public mutating func logIn(
        _ account: String, password: borrowing Secret
    ) async throws(ServerError) -> ServerSession {
        try await logIn(["username": .string(account), "password": .string(password.text())])
    }

    /// Logs in with a passkey's answer to ``startPasskey()`` (`POST /auth`), and uses the session for the calls that
    /// follow.
    @discardableResult
    public mutating func logIn(passkey answer: JSONValue) async throws(ServerError) -> ServerSession {
        try await logIn(answer)
    }

    private mutating func logIn(_ answer: JSONValue) async throws(ServerError) -> ServerSession {
        var client = self
        client.credentials = .none
        let made = try ServerSession(try await client.call(.post, "/auth", answer).value)
        (credentials, session) = (.token(made.token), made)
        return made
    }

    /// Opens a passkey ceremony without a user name (`POST /validate/initialize`).
    public func startPasskey() async throws(ServerError) -> PasskeyChallenge {
        let answer = try await call(.post, "/validate/initialize", ["type": "passkey"])
        return try PasskeyChallenge(answer.detail["passkey"])
    }
}

extension Secret {
    /// The secret as a string, for a message that must contain it.
    package borrowing func text() -> String { withBytes { String(decoding: $0, as: UTF8.self) } }
}
