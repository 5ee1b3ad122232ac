// SPDX-License-Identifier: Apache-2.0

public import YKCrypto
public import YKHTTP
public import YKWire

/// A login session at the server: a JSON Web Token and its account.
public struct PrivacyIDEASession: Sendable {
    /// The JSON Web Token, for ``PrivacyIDEA/Credentials/token(_:)``.
    public let token: SharedSecret
    /// `admin` or `user`.
    public let role: String
    /// The account's name.
    public let user: String
    /// The account's realm; empty for local administrators.
    public let realm: String
    /// The token's expiry, in seconds since 1970-01-01 00:00 UTC; `nil` if it has none.
    public let expiry: Int64?

    /// The account that is logged in.
    public var account: PrivacyIDEAAccount { PrivacyIDEAAccount(self) }

    init(_ value: JSONValue) throws(ServerError) {
        guard let token = value["token"]?.filled, let role = value["role"]?.string else {
            throw .malformed("the login has no token")
        }
        self.token = SharedSecret(Secret(utf8: token))
        self.role = role
        user = value["username"]?.string ?? ""
        realm = value["realm"]?.string ?? ""
        expiry = Self.expiry(token)
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

/// The account for which the server issued a token, as the token's claims name it. The server verifies them; the
/// client only reads them.
public struct PrivacyIDEAAccount: Hashable, Sendable {
    /// `admin` or `user`.
    public let role: String
    /// The account's name.
    public let name: String
    /// The account's realm; empty for local administrators.
    public let realm: String

    /// Whether the account may act only for itself: for these the server ignores the user that a request names, and
    /// acts on the account's own tokens.
    public var actsOnlyForItself: Bool { role == "user" }

    init(_ session: PrivacyIDEASession) { (role, name, realm) = (session.role, session.user, session.realm) }

    /// Reads the claims of a token; `nil` if it names no role.
    init?(_ token: borrowing Secret) {
        guard let claims = PrivacyIDEASession.claims(token.text()), let role = claims["role"]?.filled else {
            return nil
        }
        self.role = role
        name = claims["username"]?.string ?? ""
        realm = claims["realm"]?.string ?? ""
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

    init(_ json: JSONValue?) throws(ServerError) {
        guard let json, let challenge = json["challenge"]?.filled, let rpID = json["rpId"]?.filled,
            let id = json["transaction_id"]?.filled
        else { throw .malformed("the passkey challenge is incomplete") }
        self.challenge = Array(challenge.utf8)
        self.rpID = rpID
        userVerification = (json["user_verification"] ?? json["userVerification"])?.string ?? "preferred"
        transactionID = id
    }
}

extension PrivacyIDEA {
    /// The account whose token is in ``credentials``; `nil` without a token, and for one that names no role.
    public var account: PrivacyIDEAAccount? {
        guard case .token(let token) = credentials else { return nil }
        return PrivacyIDEAAccount(token.value)
    }

    /// Logs in with a password (`POST /auth`).
    ///
    /// - Parameters:
    ///   - user: An administrator or a user of the self-service, optionally with `@realm`.
    /// - Throws: `refused` with code 4031 for wrong credentials.
    public func logIn(_ user: String, password: borrowing Secret) async throws(ServerError) -> PrivacyIDEASession {
        try await logIn(["username": .string(user), "password": .string(password.text())])
    }

    /// Logs in with a passkey's answer to ``startPasskey()`` (`POST /auth`).
    public func logIn(passkey answer: JSONValue) async throws(ServerError) -> PrivacyIDEASession {
        try await logIn(answer)
    }

    private func logIn(_ parameters: JSONValue) async throws(ServerError) -> PrivacyIDEASession {
        var client = self
        client.credentials = .none
        return try PrivacyIDEASession(try await client.call(.post, "/auth", parameters).value)
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
