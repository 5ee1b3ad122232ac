// SPDX-License-Identifier: Apache-2.0

public import YKCrypto
public import YKFIDO
public import YKPrivacyIDEA
public import YKTransport

/// A service that verifies and administers second factors on a privacyIDEA server.
///
/// Most calls require an administrator's or a service account's token in ``server``; calls about remembered devices
/// require an API key. The service keeps no state between calls.
public struct SecondFactor: Sendable {
    /// The server, with the caller's credentials.
    public var server: PrivacyIDEA
    /// The realm of the users; `nil` for the server's default.
    public var realm: String?
    let clock: any WallClock

    /// Creates a service.
    public init(_ server: PrivacyIDEA, realm: String? = nil, clock: any WallClock) {
        self.server = server
        self.realm = realm
        self.clock = clock
    }

    /// Logs in with a password and uses the session for subsequent calls.
    ///
    /// - Throws: `rejected` for wrong credentials, or `server`.
    @discardableResult
    public mutating func logIn(
        _ account: String, password: borrowing Secret
    ) async throws(SecondFactorError) -> PrivacyIDEASession {
        if password.isEmpty { throw .invalid("password") }
        let session: PrivacyIDEASession
        do { session = try await server.logIn(account, password: password) } catch {
            if case .refused(401, _, let reason) = error { throw .rejected(reason) }
            throw .server(error)
        }
        server.credentials = .token(session.token)
        return session
    }

    /// Logs in with a passkey, without a user name, and uses the session for subsequent calls.
    ///
    /// - Throws: `rejected`, `key` or `server`.
    @discardableResult
    public mutating func logIn(passkey key: WebAuthnClient) async throws(SecondFactorError) -> PrivacyIDEASession {
        let answer = try await passkeyAnswer(key)
        let session: PrivacyIDEASession
        do { session = try await server.at(key.origin).logIn(passkey: answer) } catch {
            if case .refused(401, _, let reason) = error { throw .rejected(reason) }
            throw .server(error)
        }
        server.credentials = .token(session.token)
        return session
    }

    /// Returns the second factor of a user (getSecondFactorAuthenticationStatus).
    ///
    /// - Throws: `noSuchUser` or `server`.
    public func status(of user: String) async throws(SecondFactorError) -> SecondFactorStatus {
        SecondFactorStatus(user: user, factors: try await tokens(of: user))
    }

    /// Enables a user's factors (activate).
    ///
    /// - Parameters:
    ///   - states: The factors to enable, `sms` and `fp`; empty for all.
    /// - Returns: The number of factors changed.
    public func enable(
        _ user: String, _ states: Set<SecondFactorStatus.State> = []
    ) async throws(SecondFactorError) -> Int {
        let found = try await tokens(of: user).filter { $0.fits(states) }
        guard !found.isEmpty else { throw .noFactor(user) }
        if states.isEmpty {
            let selection = TokenSelection.user(user, realm: realm)
            return try await changing(.factors) { () async throws(PrivacyIDEAError) in
                try await server.enableTokens(selection)
            }
        }
        for token in found {
            try await changing(.factors) { () async throws(PrivacyIDEAError) in
                _ = try await server.enableTokens(.serial(token.serial))
            }
        }
        return found.count
    }

    /// Disables all factors of a user (deactivate).
    ///
    /// - Returns: The number of factors changed.
    public func disable(_ user: String) async throws(SecondFactorError) -> Int {
        guard try await !tokens(of: user).isEmpty else { throw .noFactor(user) }
        let selection = TokenSelection.user(user, realm: realm)
        return try await changing(.factors) { () async throws(PrivacyIDEAError) in
            try await server.disableTokens(selection)
        }
    }

    // MARK: shared

    /// Returns a user's tokens.
    func tokens(of user: String) async throws(SecondFactorError) -> [PrivacyIDEAToken] {
        try Self.check(user)
        do { return try await server.tokens(user: user, realm: realm) } catch {
            if case .refused(400, 904, _) = error { throw .noSuchUser(user) }
            throw .server(error)
        }
    }

    /// Refuses names that the server would interpret as a pattern.
    static func check(_ user: String) throws(SecondFactorError) {
        guard !user.isEmpty, !user.contains("*"), user.utf8.count <= 256 else { throw .invalid("user") }
    }

    /// Runs a server call, converting its error.
    func asking<Value>(
        _ body: () async throws(PrivacyIDEAError) -> Value
    ) async throws(SecondFactorError) -> Value {
        do { return try await body() } catch { throw .server(error) }
    }

    /// Runs a server call that changes something. An error after which the server may have made the change says so.
    func changing<Value>(
        _ change: SecondFactorChange, _ body: () async throws(PrivacyIDEAError) -> Value
    ) async throws(SecondFactorError) -> Value {
        do { return try await body() } catch { throw error.after(change) }
    }

    /// Undoes a change after an error.
    ///
    /// - Returns: The error; if the change could not be undone either, the one that says so.
    func undone(
        _ error: SecondFactorError, _ change: SecondFactorChange, _ undo: () async throws(PrivacyIDEAError) -> Void
    ) async -> SecondFactorError {
        do {
            try await undo()
            // What may have been done is undone.
            if case .uncertain(let cause, _) = error { return .server(cause) }
            return error
        } catch let failure {
            if case .key = error { return error }
            return .uncertain(failure, change)
        }
    }

    /// Runs a key operation, converting its error.
    func touching<Value: Sendable>(
        _ body: () async throws(WebAuthnError) -> Value
    ) async throws(SecondFactorError) -> Value {
        do { return try await body() } catch { throw .key(error) }
    }

    /// Returns why a check was refused. A lock is recognized by the token's fail counter, since the server's text may
    /// not mention it.
    func refusal(
        _ answer: PrivacyIDEAAnswer, of user: String, serial: String?, expiry: Int64?
    ) async -> SecondFactorError {
        let token = try? await tokens(of: user).first { $0.serial == serial }
        if let token, token.isBlocked { return .locked(answer.message) }
        if let expiry, clock.now > expiry { return .expired }
        return .rejected(answer.message)
    }
}

extension PrivacyIDEAToken {
    func fits(_ states: Set<SecondFactorStatus.State>) -> Bool {
        states.isEmpty || states.contains(.fp) && isKey || states.contains(.sms) && isPIN
    }
}
