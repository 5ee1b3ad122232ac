// SPDX-License-Identifier: Apache-2.0

public import YKCrypto
public import YKHTTP
import YKWire

/// A registered client, which checks second factors with an API key.
public struct FactorClient: Sendable {
    /// The identifier.
    public let id: String
    /// The part of the API key by which the server lists it.
    public let keyID: String
    /// The display name.
    public let name: String
    /// Whether it is active, in the server's word.
    public let status: String
    /// The creation time, as the server writes it.
    public let created: String?
    /// The time of the key's last use, as the server writes it.
    public let lastUsed: String?
    /// The API key, which the server shows once.
    public let apiKey: SharedSecret?

    /// Describes a client.
    public init(
        id: String, keyID: String, name: String, status: String = "", created: String? = nil, lastUsed: String? = nil,
        apiKey: SharedSecret? = nil
    ) {
        (self.id, self.keyID, self.name, self.status) = (id, keyID, name, status)
        (self.created, self.lastUsed, self.apiKey) = (created, lastUsed, apiKey)
    }

    init(_ json: JSONValue) throws(ServerError) {
        guard let id = json["id"]?.filled, let keyID = json["key_id"]?.filled else {
            throw .malformed("an API client cannot be read")
        }
        self.init(
            id: id, keyID: keyID, name: json["display_name"]?.string ?? "", status: json["status"]?.string ?? "",
            created: json["created_at"]?.filled, lastUsed: json["last_used_at"]?.filled,
            apiKey: json["api_key"]?.filled.map { SharedSecret(Secret(utf8: $0)) })
    }
}

/// A device that the server remembers for a client, so that it needs no second factor there.
public struct FactorDevice: Hashable, Sendable {
    /// The identifier.
    public let id: String
    /// The user of the device.
    public let user: String
    /// The user's realm.
    public let realm: String?
    /// The time at which it was remembered, as the server writes it.
    public let created: String?
    /// The expiry, in seconds since 1970-01-01 00:00 UTC.
    public let expiry: Int64?
    /// The time at which it was last recognized, as the server writes it.
    public let lastUsed: String?
    /// The last known address.
    public let address: String?

    /// Describes a device.
    public init(
        id: String, user: String, realm: String? = nil, created: String? = nil, expiry: Int64? = nil,
        lastUsed: String? = nil, address: String? = nil
    ) {
        (self.id, self.user, self.realm, self.created) = (id, user, realm, created)
        (self.expiry, self.lastUsed, self.address) = (expiry, lastUsed, address)
    }

    init(_ json: JSONValue) throws(ServerError) {
        guard let id = json["device_id"]?.filled, let user = json["user"]?.filled else {
            throw .malformed("a remembered device cannot be read")
        }
        self.init(
            id: id, user: user, realm: json["realm"]?.filled, created: json["created_at"]?.filled,
            expiry: ServerTime.seconds(json["expires_at"]), lastUsed: json["last_used_at"]?.filled,
            address: json["ip_address"]?.filled)
    }
}

extension PrivacyIDEA {
    /// Returns the registered API clients (`GET /clients/`).
    public func clients() async throws(ServerError) -> [FactorClient] {
        let value = try await call(.get, "/clients/").value
        guard let rows = value.array ?? value["clients"]?.array else {
            throw .malformed("the list of clients is missing")
        }
        var clients: [FactorClient] = []
        for row in rows { clients.append(try FactorClient(row)) }
        return clients
    }

    /// Registers an API client (`POST /clients/`). The result contains its API key, which cannot be read again.
    public func addClient(_ name: String) async throws(ServerError) -> FactorClient {
        let answer = try await call(
            .post, "/clients/", ["display_name": .string(name), "client_type": "privacyidea-cp"])
        return try Self.withKey(answer)
    }

    /// Replaces a client's API key (`POST /clients/ID/rotate`) and invalidates the old one immediately.
    public func rotateClient(_ id: String) async throws(ServerError) -> FactorClient {
        try Self.withKey(try await call(.post, "/clients/\(PathSegment.encode(id))/rotate"))
    }

    private static func withKey(_ answer: PrivacyIDEAAnswer) throws(ServerError) -> FactorClient {
        let client = try FactorClient(answer.value)
        guard client.apiKey != nil else { throw .malformed("the answer has no API key") }
        return client
    }

    /// Suspends or reactivates a client (`PATCH /clients/ID`).
    public func setClient(_ id: String, isActive: Bool) async throws(ServerError) {
        _ = try await call(
            .patch, "/clients/\(PathSegment.encode(id))", ["status": isActive ? "active" : "suspended"])
    }

    /// Returns the devices remembered for a client (`GET /clients/ID/remembered_devices`).
    public func rememberedDevices(of client: String) async throws(ServerError) -> [FactorDevice] {
        let value = try await call(.get, "/clients/\(PathSegment.encode(client))/remembered_devices").value
        guard let rows = value["devices"]?.array else { throw .malformed("the list of devices is missing") }
        var devices: [FactorDevice] = []
        for row in rows { devices.append(try FactorDevice(row)) }
        return devices
    }

    /// Forgets one device (`DELETE /clients/ID/remembered_devices/DEVICE`).
    public func forgetDevice(_ device: String, of client: String) async throws(ServerError) {
        _ = try await call(
            .delete, "/clients/\(PathSegment.encode(client))/remembered_devices/\(PathSegment.encode(device))")
    }

    /// Forgets all devices of a user (`DELETE /clients/remembered_devices`).
    ///
    /// - Returns: The number of forgotten devices.
    public func forgetDevices(of user: String, realm: String?) async throws(ServerError) -> Int {
        try await call(
            .delete, "/clients/remembered_devices",
            ["user": .string(user), "realm": realm.map(JSONValue.string) ?? .null]
        ).value.count ?? 0
    }
}
