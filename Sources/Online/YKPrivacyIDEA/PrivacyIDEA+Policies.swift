// SPDX-License-Identifier: Apache-2.0

public import YKHTTP
public import YKWire

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
