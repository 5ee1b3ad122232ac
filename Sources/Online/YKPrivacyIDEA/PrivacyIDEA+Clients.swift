// SPDX-License-Identifier: Apache-2.0

public import YKCrypto
public import YKHTTP
import YKWire

/// A registered API client.
public struct PrivacyIDEAClient: Sendable {
    /// The identifier.
    public let id: String
    /// The part of the API key after `pi_`, by which the server finds it.
    public let keyID: String
    /// The display name.
    public let name: String
    /// `active` or `suspended`.
    public let status: String
    /// The creation time, as the server writes it.
    public let created: String?
    /// The time of the key's last use, as the server writes it.
    public let lastUsed: String?
    /// The API key; present only in the results of ``PrivacyIDEA/addClient(_:)`` and ``PrivacyIDEA/rotateClient(_:)``.
    public let apiKey: SharedSecret?

    init(_ json: JSONValue) throws(ServerError) {
        guard let id = json["id"]?.filled, let keyID = json["key_id"]?.filled else {
            throw .malformed("an API client cannot be read")
        }
        self.id = id
        self.keyID = keyID
        name = json["display_name"]?.string ?? ""
        status = json["status"]?.string ?? ""
        created = json["created_at"]?.filled
        lastUsed = json["last_used_at"]?.filled
        apiKey = json["api_key"]?.filled.map { SharedSecret(Secret(utf8: $0)) }
    }
}

/// A device that the server remembers.
public struct RememberedDevice: Hashable, Sendable {
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

    init(_ json: JSONValue) throws(ServerError) {
        guard let id = json["device_id"]?.filled, let user = json["user"]?.filled else {
            throw .malformed("a remembered device cannot be read")
        }
        self.id = id
        self.user = user
        realm = json["realm"]?.filled
        created = json["created_at"]?.filled
        expiry = ServerTime.seconds(json["expires_at"])
        lastUsed = json["last_used_at"]?.filled
        address = json["ip_address"]?.filled
    }
}

extension PrivacyIDEA {
    /// Returns the registered API clients (`GET /clients/`).
    public func clients() async throws(ServerError) -> [PrivacyIDEAClient] {
        let value = try await call(.get, "/clients/").value
        guard let rows = value.array ?? value["clients"]?.array else {
            throw .malformed("the list of clients is missing")
        }
        var clients: [PrivacyIDEAClient] = []
        for row in rows { clients.append(try PrivacyIDEAClient(row)) }
        return clients
    }

    /// Registers an API client (`POST /clients/`). The result contains its API key, which cannot be read again.
    public func addClient(_ name: String) async throws(ServerError) -> PrivacyIDEAClient {
        let answer = try await call(
            .post, "/clients/", ["display_name": .string(name), "client_type": "privacyidea-cp"])
        return try Self.withKey(answer)
    }

    /// Replaces a client's API key (`POST /clients/ID/rotate`) and invalidates the old one immediately.
    public func rotateClient(_ id: String) async throws(ServerError) -> PrivacyIDEAClient {
        try Self.withKey(try await call(.post, "/clients/\(PathSegment.encode(id))/rotate"))
    }

    private static func withKey(_ answer: PrivacyIDEAAnswer) throws(ServerError) -> PrivacyIDEAClient {
        let client = try PrivacyIDEAClient(answer.value)
        guard client.apiKey != nil else { throw .malformed("the answer has no API key") }
        return client
    }

    /// Suspends or reactivates a client (`PATCH /clients/ID`).
    public func setClient(_ id: String, isActive: Bool) async throws(ServerError) {
        _ = try await call(
            .patch, "/clients/\(PathSegment.encode(id))", ["status": isActive ? "active" : "suspended"])
    }

    /// Returns the devices remembered for a client (`GET /clients/ID/remembered_devices`).
    public func rememberedDevices(_ client: String) async throws(ServerError) -> [RememberedDevice] {
        let value = try await call(.get, "/clients/\(PathSegment.encode(client))/remembered_devices").value
        guard let rows = value["devices"]?.array else { throw .malformed("the list of devices is missing") }
        var devices: [RememberedDevice] = []
        for row in rows { devices.append(try RememberedDevice(row)) }
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
    public func forgetDevices(user: String, realm: String?) async throws(ServerError) -> Int {
        try await call(
            .delete, "/clients/remembered_devices",
            ["user": .string(user), "realm": realm.map(JSONValue.string) ?? .null]
        ).value.count ?? 0
    }
}
