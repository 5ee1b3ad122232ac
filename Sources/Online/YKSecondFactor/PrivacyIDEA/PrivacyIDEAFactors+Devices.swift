// SPDX-License-Identifier: Apache-2.0

public import YKCrypto
public import YKHTTP
import YKPrivacyIDEA
import YKWire

extension PrivacyIDEAFactors {
    /// The name of the policy that says which users may have remembered devices.
    public static let rememberingPolicy = "ykit-remembered-devices"

    /// Returns the dedicated policy.
    public func rememberingRule(days: Int) async throws(ServerError) -> RememberingRule {
        let known = try await client.policies().first { $0.name == Self.rememberingPolicy }
        let settings: JSONValue = ["remember_device": true, "remember_device_validity": .int(Int64(days))]
        // The server requires an inactive policy to name users as well.
        let entries = known.map { $0.isActive ? $0.users : [] } ?? []
        let names = entries.map { $0.replacing("\\", with: "") }
        return RememberingRule(
            users: names.filter { entries.contains(Self.pattern($0)) },
            patterns: zip(entries, names).filter { $0 != Self.pattern($1) }.map(\.0), realms: known?.realms ?? [],
            isNew: known == nil, settings: known?.actions ?? settings.object ?? JSONValue.Object())
    }

    /// Sets the dedicated policy. Without users it would apply to everyone, so it is then made inactive.
    public func set(_ rule: RememberingRule, without user: String) async throws(ServerError) {
        var policy = PrivacyIDEAPolicy(Self.rememberingPolicy, scope: "authentication", .object(rule.settings))
        policy.realms = rule.realms
        policy.users = rule.patterns + rule.users.map(Self.pattern)
        policy.isActive = !policy.users.isEmpty
        if policy.users.isEmpty { policy.users = [Self.pattern(user)] }
        try await client.setPolicy(policy)
    }

    /// Returns the regular expression that matches only this user name, the form in which a policy stores it.
    private static func pattern(_ user: String) -> String {
        user.reduce(into: "") { pattern, character in
            let isPlain = character.isLetter || character.isNumber || "_@".contains(character)
            pattern += isPlain ? String(character) : "\\\(character)"
        }
    }

    /// Returns the devices remembered for a client.
    public func rememberedDevices(of client: String) async throws(ServerError) -> [FactorDevice] {
        try await self.client.rememberedDevices(client).map {
            FactorDevice(
                id: $0.id, user: $0.user, realm: $0.realm, created: $0.created, expiry: $0.expiry,
                lastUsed: $0.lastUsed, address: $0.address)
        }
    }

    /// Checks a device's cookie (`POST /validate/remember_device`).
    public func checkDevice(
        _ user: String, realm: String?, cookie: borrowing Secret
    ) async throws(ServerError) -> (isRemembered: Bool, cookie: SharedSecret?) {
        try await client.rememberDevice(user, realm: realm, cookie: cookie)
    }

    /// Forgets a device.
    public func forgetDevice(_ device: String, of client: String) async throws(ServerError) {
        try await self.client.forgetDevice(device, of: client)
    }

    /// Forgets all devices of a user.
    public func forgetDevices(of user: String, realm: String?) async throws(ServerError) -> Int {
        try await client.forgetDevices(user: user, realm: realm)
    }

    /// Returns the registered clients.
    public func clients() async throws(ServerError) -> [FactorClient] {
        try await client.clients().map(FactorClient.init)
    }

    /// Registers a client.
    public func addClient(_ name: String) async throws(ServerError) -> FactorClient {
        FactorClient(try await client.addClient(name))
    }

    /// Replaces a client's API key.
    public func rotateClient(_ id: String) async throws(ServerError) -> FactorClient {
        FactorClient(try await client.rotateClient(id))
    }

    /// Returns the part of an API key after `pi_`.
    public func keyID(of apiKey: borrowing Secret) -> String {
        let parts = apiKey.text().split(separator: "_", maxSplits: 2)
        return parts.count == 3 && parts[0] == "pi" ? String(parts[1]) : ""
    }
}

extension FactorClient {
    fileprivate init(_ client: PrivacyIDEAClient) {
        self.init(
            id: client.id, keyID: client.keyID, name: client.name, status: client.status, created: client.created,
            lastUsed: client.lastUsed, apiKey: client.apiKey)
    }
}
