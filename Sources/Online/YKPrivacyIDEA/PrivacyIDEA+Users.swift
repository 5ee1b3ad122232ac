// SPDX-License-Identifier: Apache-2.0

public import YKCrypto
public import YKHTTP
public import YKWire

/// A user of a server.
public struct ServerUser: Hashable, Sendable {
    /// The login name.
    public let name: String
    /// The realm.
    public let realm: String?
    /// The mobile phone's number.
    public let mobile: String?

    /// Describes a user.
    public init(name: String, realm: String?, mobile: String?) {
        (self.name, self.realm, self.mobile) = (name, realm, mobile)
    }

    init(_ json: JSONValue) throws(ServerError) {
        guard let name = json["username"]?.filled else { throw .malformed("a user cannot be read") }
        self.init(name: name, realm: json["realm"]?.filled, mobile: json["mobile"]?.filled)
    }
}

/// A user to be created.
public struct NewUser: Sendable {
    /// The login name.
    public var name: String
    /// The password in the user store.
    public var password: SharedSecret?
    /// The mobile phone's number.
    public var mobile: String?
    /// The email address.
    public var email: String?
    /// The given name.
    public var givenName: String?
    /// The family name.
    public var surname: String?

    /// Creates a description of a user with this login name.
    public init(_ name: String) { self.name = name }

    func parameters(_ resolver: String) -> JSONValue {
        func text(_ value: String?) -> JSONValue { value.map(JSONValue.string) ?? .null }
        return [
            "user": .string(name), "resolver": .string(resolver), "password": text(password?.value.text()),
            "mobile": text(mobile), "email": text(email), "givenname": text(givenName), "surname": text(surname),
        ]
    }
}

extension PrivacyIDEA {
    /// Returns the user with this name (`GET /user/`). Never sends `*`, since the server treats names as patterns.
    ///
    /// - Returns: The user; `nil` if there is none.
    public func user(_ name: String, realm: String? = nil) async throws(ServerError) -> ServerUser? {
        guard !name.contains(bytesOf: "*") else { return nil }
        // The server treats every parameter as a search field and finds nobody if a nonce is sent.
        let answer = try await call(
            .get, "/user/", ["username": .string(name), "realm": realm.map(JSONValue.string) ?? .null], isFresh: false)
        guard let rows = answer.value.array else { throw .malformed("the list of users is missing") }
        for row in rows {
            let user = try ServerUser(row)
            if user.name == name { return user }
        }
        return nil
    }

    /// Creates a user (`POST /user/`). The server answers 500 if the name exists, so check first.
    public func add(_ user: NewUser, store: String) async throws(ServerError) {
        _ = try await call(.post, "/user/", user.parameters(store))
    }

    /// Deletes a user (`DELETE /user/RESOLVER/USER`).
    public func deleteUser(_ name: String, store: String) async throws(ServerError) {
        _ = try await call(.delete, "/user/\(PathSegment.encode(store))/\(PathSegment.encode(name))")
    }

    /// Returns the user stores of a realm or of the default realm (`GET /realm/`).
    public func userStores(realm: String? = nil) async throws(ServerError) -> [String] {
        let realms = try await call(.get, "/realm/").value.object?.members ?? []
        let found = realms.first { realm == nil ? $0.value["default"]?.bool == true : $0.key == realm }
        return (found?.value["resolver"]?.array ?? []).compactMap { $0["name"]?.filled }
    }
}

/// A policy of the server.
public struct PrivacyIDEAPolicy: Hashable, Sendable {
    /// The name.
    public let name: String
    /// The scope, such as `authentication`.
    public var scope: String
    /// The values it sets, by name.
    public var actions: JSONValue.Object
    /// The users it applies to; empty for everyone.
    public var users: [String]
    /// The realms it applies to; empty for all.
    public var realms: [String]
    /// Whether it is active.
    public var isActive: Bool

    /// Creates a policy.
    public init(_ name: String, scope: String, _ actions: JSONValue) {
        self.name = name
        self.scope = scope
        self.actions = actions.object ?? JSONValue.Object()
        users = []
        realms = []
        isActive = true
    }

    init(_ json: JSONValue) throws(ServerError) {
        guard let name = json["name"]?.filled, let scope = json["scope"]?.string, let isActive = json["active"]?.bool
        else { throw .malformed("a policy cannot be read") }
        self.name = name
        self.scope = scope
        self.isActive = isActive
        actions = json["action"]?.object ?? JSONValue.Object()
        users = (json["user"]?.array ?? []).compactMap(\.filled)
        realms = (json["realm"]?.array ?? []).compactMap(\.filled)
    }
}

extension PrivacyIDEA {
    /// Returns the policies (`GET /policy/`).
    public func policies() async throws(ServerError) -> [PrivacyIDEAPolicy] {
        guard let rows = try await call(.get, "/policy/").value.array else {
            throw .malformed("the list of policies is missing")
        }
        var policies: [PrivacyIDEAPolicy] = []
        for row in rows { policies.append(try PrivacyIDEAPolicy(row)) }
        return policies
    }

    /// Creates or replaces a policy (`POST /policy/NAME`).
    public func setPolicy(_ policy: PrivacyIDEAPolicy) async throws(ServerError) {
        _ = try await call(
            .post, "/policy/\(PathSegment.encode(policy.name))",
            [
                "scope": .string(policy.scope), "action": .object(policy.actions), "active": .bool(policy.isActive),
                "user": .array(policy.users.map(JSONValue.string)),
                "realm": .array(policy.realms.map(JSONValue.string)),
            ])
    }
}
