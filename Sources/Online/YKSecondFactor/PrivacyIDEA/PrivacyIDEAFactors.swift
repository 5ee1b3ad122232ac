// SPDX-License-Identifier: Apache-2.0

public import YKCrypto
public import YKFIDO
public import YKHTTP
public import YKPrivacyIDEA
import YKWire

/// A privacyIDEA server, as ``SecondFactor`` uses it.
public struct PrivacyIDEAFactors: SecondFactorServer {
    /// The client, with the caller's credentials.
    public private(set) var client: PrivacyIDEA
    private var session: ServerSession?

    /// Uses a client of a server.
    public init(_ client: PrivacyIDEA) { self.client = client }

    /// The account whose token the client has; `nil` without a token, and for one that names no role.
    public var account: ServerAccount? {
        if let session, case .token(let token) = client.credentials, token === session.token { return session.account }
        return client.account.map(ServerAccount.init)
    }

    /// Uses an account's JSON Web Token.
    public mutating func use(token: SharedSecret) { client.credentials = .token(token) }

    /// Uses a client's API key in addition to the account.
    public mutating func use(apiKey: SharedSecret) { client.apiKey = apiKey }

    /// Logs in with a password.
    public mutating func logIn(
        _ account: String, password: borrowing Secret
    ) async throws(ServerError) -> ServerSession {
        use(try await client.logIn(account, password: password))
    }

    /// Logs in with a passkey.
    public mutating func logIn(_ passkey: PasskeyAnswer, at origin: Origin) async throws(ServerError) -> ServerSession {
        use(try await client.at(origin).logIn(passkey: passkey.members))
    }

    private mutating func use(_ session: PrivacyIDEASession) -> ServerSession {
        client.credentials = .token(session.token)
        let made = ServerSession(
            token: session.token, account: ServerAccount(session.account), expiry: session.expiry)
        self.session = made
        return made
    }
}

extension PrivacyIDEAFactors {
    /// Returns the tokens of a user (`GET /token/`).
    public func factors(of user: String, realm: String?) async throws(ServerError) -> [Factor]? {
        do { return try await client.tokens(user: user, realm: realm).map(Factor.init) } catch {
            if case .refused(400, 904, _) = error { return nil }
            throw error
        }
    }

    /// Enables tokens.
    public func enable(_ factors: FactorSelection) async throws(ServerError) -> Int {
        try await client.enableTokens(factors.tokens)
    }

    /// Disables tokens.
    public func disable(_ factors: FactorSelection) async throws(ServerError) -> Int {
        try await client.disableTokens(factors.tokens)
    }

    /// Deletes a token.
    public func delete(_ factor: String) async throws(ServerError) { try await client.deleteToken(factor) }

    /// Sets a token's description.
    public func describe(_ factor: String, _ text: String) async throws(ServerError) {
        try await client.setToken(factor, ["description": .string(text)])
    }

    // MARK: challenges

    /// Triggers challenges as a service account (`POST /validate/triggerchallenge`).
    public func challenge(
        _ user: String, realm: String?, factor: String?, at origin: Origin?
    ) async throws(ServerError) -> FactorChallenges {
        let answer = try await client.at(origin).triggerChallenge(user, realm: realm, serial: factor)
        return FactorChallenges(answer.challenges.map(FactorChallenge.init), message: answer.message)
    }

    /// Returns the open challenges of a token.
    public func openChallenges(of factor: String) async throws(ServerError) -> [OpenFactorChallenge] {
        try await client.openChallenges(serial: factor).map {
            OpenFactorChallenge(
                serial: $0.serial, transactionID: $0.transactionID, expiry: $0.expiry, isAnswered: $0.isAnswered)
        }
    }

    /// Cancels the challenges of a transaction.
    public func cancelChallenge(_ transaction: String) async throws(ServerError) {
        try await client.cancelChallenge(transaction)
    }

    /// Checks a PIN (`POST /validate/check`).
    public func check(
        _ user: String, realm: String?, pin: borrowing Secret, transaction: String, remembers: Bool
    ) async throws(ServerError) -> FactorCheck? {
        do {
            return FactorCheck(
                try await client.check(user, realm: realm, pin, transaction: transaction, remembers: remembers))
        } catch {
            if case .refused(400, 904, _) = error { return nil }
            throw error
        }
    }

    /// Checks the response of a FIDO2 credential.
    public func check(
        _ user: String, realm: String?, _ response: AuthenticationResponse, transaction: String, remembers: Bool,
        at origin: Origin
    ) async throws(ServerError) -> FactorCheck {
        FactorCheck(
            try await client.at(origin).check(
                user, realm: realm, Secret([]), transaction: transaction, response: response.members,
                remembers: remembers))
    }

    /// Opens a passkey ceremony (`POST /validate/initialize`).
    public func challengePasskey(at origin: Origin) async throws(ServerError) -> PasskeyChallenge {
        let opened = try await client.at(origin).startPasskey()
        return PasskeyChallenge(
            challenge: opened.challenge, rpID: opened.rpID, transactionID: opened.transactionID)
    }

    /// Checks a passkey's response.
    public func check(_ passkey: PasskeyAnswer, at origin: Origin) async throws(ServerError) -> FactorCheck {
        FactorCheck(try await client.at(origin).check(nil, Secret([]), response: passkey.members))
    }

    // MARK: users

    /// Returns a user.
    public func user(_ name: String, realm: String?) async throws(ServerError) -> ServerUser? {
        try await client.user(name, realm: realm).map {
            ServerUser(name: $0.name, realm: $0.realm, mobile: $0.mobile)
        }
    }

    /// Creates a user.
    public func add(_ user: NewUser, store: String) async throws(ServerError) {
        var new = NewPrivacyIDEAUser(user.name)
        (new.password, new.mobile, new.email) = (user.password, user.mobile, user.email)
        (new.givenName, new.surname) = (user.givenName, user.surname)
        try await client.addUser(new, resolver: store)
    }

    /// Deletes a user.
    public func deleteUser(_ name: String, store: String) async throws(ServerError) {
        try await client.deleteUser(name, resolver: store)
    }

    /// Returns the resolvers of a realm.
    public func userStores(realm: String?) async throws(ServerError) -> [String] {
        try await client.resolvers(realm: realm)
    }
}

extension ServerAccount {
    fileprivate init(_ account: PrivacyIDEAAccount) {
        self.init(
            role: account.role, name: account.name, realm: account.realm, actsOnlyForItself: account.actsOnlyForItself)
    }
}

extension Factor {
    fileprivate init(_ token: PrivacyIDEAToken) {
        self.init(
            serial: token.serial, kind: Kind(rawValue: token.kind.rawValue), isActive: token.isActive,
            isWithdrawn: token.isRevoked || token.isLocked,
            enrolment: token.rolloutState.map { Enrolment(rawValue: $0.rawValue) }, failCount: token.failCount,
            maxFail: token.maxFail, description: token.description, container: token.container,
            aaguid: token.info["aaguid"]?.string)
    }
}

extension FactorSelection {
    fileprivate var tokens: TokenSelection {
        switch self {
        case .serial(let serial): .serial(serial)
        case .user(let user, let realm): .user(user, realm: realm)
        }
    }
}

extension FactorCheck {
    fileprivate init(_ answer: PrivacyIDEAAnswer) {
        self.init(
            isAccepted: answer.authentication == .accept, message: answer.message, serial: answer.serial,
            user: answer.detail["username"]?.string, cookie: answer.deviceCookie)
    }
}

extension PrivacyIDEA {
    /// Returns the same server with another origin for ceremonies.
    func at(_ origin: Origin?) -> PrivacyIDEA {
        guard let origin else { return self }
        var server = self
        server.origin = origin.description
        return server
    }
}
