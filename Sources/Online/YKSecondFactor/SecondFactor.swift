// SPDX-License-Identifier: Apache-2.0

public import YKCrypto
public import YKFIDO
import YKHTTP
public import YKPrivacyIDEA
public import YKTransport

/// A service that verifies and administers second factors on a server.
///
/// Most calls require an administrator's or a service account's token in ``server``; calls about remembered devices
/// require an API key. With the token of an account that acts only for itself, calls that name another user are refused
/// before anything is sent, since the server may ignore the name. The service keeps no state between calls.
public struct SecondFactor: Sendable {
    /// The server, with the caller's credentials.
    public var server: any SecondFactorServer
    /// The realm of the users; `nil` for the server's default.
    public var realm: String?
    let clock: any WallClock

    /// Creates a service.
    public init(_ server: some SecondFactorServer, realm: String? = nil, clock: any WallClock) {
        self.server = server
        self.realm = realm
        self.clock = clock
    }

    /// Logs in with a password and uses the session for subsequent calls.
    ///
    /// - Throws: `server`, with status 401 for wrong credentials.
    @discardableResult
    public mutating func logIn(
        _ account: String, password: borrowing Secret
    ) async throws(SecondFactorError) -> ServerSession {
        if password.isEmpty { throw .invalid("password") }
        do { return try await server.logIn(account, password: password) } catch { throw .server(error) }
    }

    /// Logs in with a passkey, without a user name, and uses the session for subsequent calls.
    ///
    /// - Throws: `key`, or `server`, with status 401 for a signature that the server refuses.
    @discardableResult
    public mutating func logIn(passkey key: WebAuthnClient) async throws(SecondFactorError) -> ServerSession {
        let answer = try await passkeyAnswer(key)
        do { return try await server.logIn(answer, at: key.origin) } catch { throw .server(error) }
    }

    /// Returns the second factor of a user (getSecondFactorAuthenticationStatus).
    ///
    /// - Throws: `noSuchUser` or `server`.
    public func status(of user: String) async throws(SecondFactorError) -> SecondFactorStatus {
        SecondFactorStatus(user: user, factors: try await tokens(of: user))
    }

    /// Enables a user's factors (activate). Factors whose enrollment is incomplete are not enabled: they could not be
    /// used.
    ///
    /// - Parameters:
    ///   - states: The factors to enable, `sms` and `fp`; empty for all. The user must have each of them.
    /// - Returns: The number of factors changed, and the factors whose enrollment is incomplete.
    /// - Throws: `noFactor`, `notEnrolled` if every factor of a kind is incomplete, `noSuchUser`, `otherAccount` or
    ///   `server`.
    public func enable(
        _ user: String, _ states: Set<SecondFactorStatus.State> = []
    ) async throws(SecondFactorError) -> (changed: Int, waiting: [Factor]) {
        let all = try await tokens(of: user)
        for wanted in states.isEmpty ? [states] : states.map({ [$0] }) {
            let found = all.filter { $0.fits(wanted) }
            guard !found.isEmpty else { throw .noFactor(user) }
            guard found.contains(where: \.isEnrolled) else { throw .notEnrolled(found.map(\.serial)) }
        }
        let found = all.filter { $0.fits(states) }
        let waiting = found.filter { !$0.isEnrolled }
        if states.isEmpty, waiting.isEmpty {
            let selection = FactorSelection.user(user, realm: realm)
            let changed = try await changing(.factors) { () async throws(ServerError) in
                try await server.enable(selection)
            }
            return (changed, [])
        }
        for token in found where token.isEnrolled {
            try await changing(.factors) { () async throws(ServerError) in
                _ = try await server.enable(.serial(token.serial))
            }
        }
        return (found.count - waiting.count, waiting)
    }

    /// Disables all factors of a user (deactivate).
    ///
    /// - Returns: The number of factors changed.
    public func disable(_ user: String) async throws(SecondFactorError) -> Int {
        guard try await !tokens(of: user).isEmpty else { throw .noFactor(user) }
        let selection = FactorSelection.user(user, realm: realm)
        return try await changing(.factors) { () async throws(ServerError) in
            try await server.disable(selection)
        }
    }

    // MARK: shared

    /// Returns a user's factors.
    func tokens(of user: String) async throws(SecondFactorError) -> [Factor] {
        try check(user)
        let found: [Factor]?
        do { found = try await server.factors(of: user, realm: realm) } catch { throw .server(error) }
        guard let found else { throw .noSuchUser(user) }
        return found
    }

    /// Refuses names that a server may interpret as a pattern, and for an account that acts only for itself every other
    /// user. Each call with a user begins with this; nothing is sent.
    ///
    /// - Throws: `invalid` or `otherAccount`.
    public func check(_ user: String) throws(SecondFactorError) {
        guard !user.isEmpty, !user.contains("*"), user.utf8.count <= 256 else { throw .invalid("user") }
        guard let account = server.account, account.actsOnlyForItself else { return }
        let isSameRealm = realm.map { $0.lowercased() == account.realm.lowercased() } ?? true
        guard user == account.name, isSameRealm else { throw .otherAccount(account.name, user: user) }
    }

    /// Runs a server call, converting its error.
    func asking<Value>(
        _ body: () async throws(ServerError) -> Value
    ) async throws(SecondFactorError) -> Value {
        do { return try await body() } catch { throw .server(error) }
    }

    /// Runs a server call that changes something. Throws `uncertain` for an error after which the server may have made
    /// the change.
    func changing<Value>(
        _ change: SecondFactorChange, _ body: () async throws(ServerError) -> Value
    ) async throws(SecondFactorError) -> Value {
        do { return try await body() } catch { throw error.after(change) }
    }

    /// Undoes a change after an error.
    ///
    /// - Returns: The error, or `uncertain` if the change could not be undone.
    func undone(
        _ error: SecondFactorError, _ change: SecondFactorChange, _ undo: () async throws(ServerError) -> Void
    ) async -> SecondFactorError {
        do {
            try await undo()
            // The change, if it was made, is now undone.
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
        _ message: String?, of user: String, serial: String?, expiry: Int64?
    ) async -> SecondFactorError {
        let token = try? await tokens(of: user).first { $0.serial == serial }
        if let token, token.isBlocked { return .locked(message) }
        if let expiry, clock.now > expiry { return .expired }
        return .rejected(message)
    }
}

extension Factor {
    func fits(_ states: Set<SecondFactorStatus.State>) -> Bool {
        states.isEmpty || states.contains(.fp) && isKey || states.contains(.sms) && isPIN
    }
}
