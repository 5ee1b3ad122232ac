// SPDX-License-Identifier: Apache-2.0

public import YKCrypto
import YKHTTP
public import YKPrivacyIDEA

extension SecondFactor {
    /// Allows or forbids remembered devices for a user (enableDisableUserTrustedDevice), with a dedicated rule. Devices
    /// that are already remembered remain so until they are removed or expire.
    ///
    /// - Parameters:
    ///   - days: How long a device is remembered; used when the rule is created.
    /// - Returns: The users in the rule after the change.
    public func setTrust(
        _ user: String, isAllowed: Bool, days: Int = 30
    ) async throws(SecondFactorError) -> [String] {
        _ = try await tokens(of: user)
        guard !user.contains(where: { $0 == "," || $0.isWhitespace }) else { throw .invalid("user") }
        var rule = try await asking { () async throws(ServerError) in try await server.rememberingRule(days: days) }
        rule.users.removeAll { $0 == user }
        if isAllowed { rule.users.append(user) }
        if let realm { rule.realms = [realm] }
        if rule.isNew, rule.users.isEmpty { return [] }
        let changed = rule
        try await changing(.trust) { () async throws(ServerError) in try await server.set(changed, without: user) }
        return changed.patterns + changed.users
    }

    /// Returns the devices that the server remembers for a user and the client of an API key
    /// (checkIfDeviceIsUserTrusted).
    ///
    /// - Throws: `noSuchClient`, `noSuchUser` or `server`.
    public func trustedDevices(
        of user: String, client: String
    ) async throws(SecondFactorError) -> [FactorDevice] {
        _ = try await tokens(of: user)
        let found = try await asking { () async throws(ServerError) in
            try await server.rememberedDevices(of: client)
        }
        return found.filter { $0.user == user && (realm == nil || $0.realm == realm) }
    }

    /// Returns the registered client to which an API key belongs.
    ///
    /// - Throws: `noSuchClient` or `server`.
    public func client(of apiKey: borrowing Secret) async throws(SecondFactorError) -> FactorClient {
        try await client(named: server.keyID(of: apiKey))
    }

    /// Returns the registered client with this identifier, key identifier or unique name.
    ///
    /// - Throws: `noSuchClient`, `ambiguous` or `server`.
    public func client(named name: String) async throws(SecondFactorError) -> FactorClient {
        let all = try await asking { () async throws(ServerError) in try await server.clients() }
        if let exact = all.first(where: { $0.id == name || $0.keyID == name }) { return exact }
        let found = all.filter { $0.name == name }
        guard let client = found.first else { throw .noSuchClient(name) }
        guard found.count == 1 else { throw .ambiguous(found.map(\.id)) }
        return client
    }

    /// Checks whether the server remembers this device for a user (validateTrustedDeviceToken), with an API key.
    ///
    /// This uses up the cookie: if anyone, owner or thief, presents it again, the server forgets all devices of the
    /// user.
    ///
    /// - Returns: The next cookie.
    /// - Throws: `notTrusted`, `invalid` or `server`.
    public func checkTrust(_ user: String, cookie: borrowing Secret) async throws(SecondFactorError) -> SharedSecret {
        try check(user)
        let isSound = cookie.withBytes { bytes in
            !bytes.isEmpty && bytes.allSatisfy { (0x21...0x7E).contains($0) && $0 != 0x3B && $0 != 0x2C }
        }
        guard isSound else { throw .invalid("cookie") }
        let isRemembered: Bool
        let next: SharedSecret?
        do { (isRemembered, next) = try await server.checkDevice(user, realm: realm, cookie: cookie) } catch {
            throw error.after(.trust)
        }
        guard isRemembered else { throw .notTrusted(isRevoked: next.map { $0.value.isEmpty } ?? false) }
        guard let next, !next.value.isEmpty else { throw .server(.malformed("the next cookie is missing")) }
        return next
    }

    /// Deletes one remembered device of a user, or all of them, for every client.
    ///
    /// - Parameters:
    ///   - device: The device's identifier; `nil` for all.
    ///   - client: The client for which it is remembered; not needed for all.
    /// - Returns: The number of deleted devices.
    public func removeTrust(
        _ user: String, device: String? = nil, client: String? = nil
    ) async throws(SecondFactorError) -> Int {
        guard let device, let client else {
            let realm = try await self.realm(of: user)
            return try await changing(.trust) { () async throws(ServerError) in
                try await server.forgetDevices(of: user, realm: realm)
            }
        }
        let known = try await trustedDevices(of: user, client: client)
        guard known.contains(where: { $0.id == device }) else { throw .noSuchDevice(device) }
        try await changing(.trust) { () async throws(ServerError) in
            try await server.forgetDevice(device, of: client)
        }
        return 1
    }

    /// Returns the realm of a user, since some calls do not fall back to the default realm.
    private func realm(of user: String) async throws(SecondFactorError) -> String? {
        try check(user)
        if let realm { return realm }
        let found = try await asking { () async throws(ServerError) in
            try await server.user(user, realm: nil)
        }
        guard let found else { throw .noSuchUser(user) }
        return found.realm
    }

    // MARK: API keys

    /// Registers a client and creates its API key (getApiKey), which cannot be read again.
    ///
    /// - Throws: `invalid`, `ambiguous` if a client already has this name, or `server`.
    public func createAPIKey(_ name: String) async throws(SecondFactorError) -> FactorClient {
        guard !name.isEmpty, name.count <= 80 else { throw .invalid("name") }
        let all = try await asking { () async throws(ServerError) in try await server.clients() }
        if let known = all.first(where: { $0.name == name }) { throw .ambiguous([known.id]) }
        return try await changing(.apiKey) { () async throws(ServerError) in try await server.addClient(name) }
    }

    /// Replaces a client's API key and invalidates the old one immediately.
    public func rotateAPIKey(_ name: String) async throws(SecondFactorError) -> FactorClient {
        let client = try await client(named: name)
        return try await changing(.apiKey) { () async throws(ServerError) in
            try await server.rotateClient(client.id)
        }
    }

    /// Returns the registered clients, without their API keys.
    public func apiKeys() async throws(SecondFactorError) -> [FactorClient] {
        try await asking { () async throws(ServerError) in try await server.clients() }
    }
}
