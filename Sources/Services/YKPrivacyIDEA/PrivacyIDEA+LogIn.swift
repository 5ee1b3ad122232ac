// SPDX-License-Identifier: Apache-2.0

public import YKCrypto
import YKHTTP
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

    init(_ value: JSONValue) throws(PrivacyIDEAError) {
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
        let parts = token.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let claims = try? Base64.decode(parts[1]), let json = try? JSONValue(parsing: claims)
        else {
            return nil
        }
        return json["exp"]?.number.flatMap { Int64(exactly: $0.rounded(.down)) }
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

    init(_ json: JSONValue?) throws(PrivacyIDEAError) {
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
    /// Logs in with a password (`POST /auth`).
    ///
    /// - Parameters:
    ///   - user: An administrator or a user of the self-service, optionally with `@realm`.
    /// - Throws: `refused` with code 4031 for wrong credentials.
    public func logIn(_ user: String, password: borrowing Secret) async throws(PrivacyIDEAError) -> PrivacyIDEASession {
        try await logIn(["username": .string(user), "password": .string(password.text())])
    }

    /// Logs in with a passkey's answer to ``startPasskey()`` (`POST /auth`).
    public func logIn(passkey answer: JSONValue) async throws(PrivacyIDEAError) -> PrivacyIDEASession {
        try await logIn(answer)
    }

    private func logIn(_ parameters: JSONValue) async throws(PrivacyIDEAError) -> PrivacyIDEASession {
        var client = self
        client.credentials = .none
        return try PrivacyIDEASession(try await client.call(.post, "/auth", parameters).value)
    }

    /// Opens a passkey ceremony without a user name (`POST /validate/initialize`).
    public func startPasskey() async throws(PrivacyIDEAError) -> PasskeyChallenge {
        let answer = try await call(.post, "/validate/initialize", ["type": "passkey"])
        return try PasskeyChallenge(answer.detail["passkey"])
    }
}

extension Secret {
    /// The secret as a string, for a message that must contain it.
    package borrowing func text() -> String { withBytes { String(decoding: $0, as: UTF8.self) } }
}
