// SPDX-License-Identifier: Apache-2.0

public import YKCrypto
import YKHTTP
import YKWire

/// A person in a user store.
public struct PrivacyIDEAUser: Hashable, Sendable {
    /// The log-in name.
    public let name: String
    /// The realm.
    public let realm: String?
    /// The user store.
    public let resolver: String?
    /// The mobile phone's number.
    public let mobile: String?
    /// The mail address.
    public let email: String?
    /// The given name.
    public let givenName: String?
    /// The family name.
    public let surname: String?

    init(_ json: JSON) throws(PrivacyIDEAError) {
        guard let name = json["username"]?.filled else { throw .malformed("a user cannot be read") }
        self.name = name
        realm = json["realm"]?.filled
        resolver = json["resolver"]?.filled
        mobile = json["mobile"]?.filled
        email = json["email"]?.filled
        givenName = json["givenname"]?.filled
        surname = json["surname"]?.filled
    }
}

/// A user to be made.
public struct NewPrivacyIDEAUser: Sendable {
    /// The log-in name.
    public var name: String
    /// The password of the user store.
    public var password: SharedSecret?
    /// The mobile phone's number.
    public var mobile: String?
    /// The mail address.
    public var email: String?
    /// The given name.
    public var givenName: String?
    /// The family name.
    public var surname: String?

    /// Describes a user by the log-in name.
    public init(_ name: String) { self.name = name }

    func parameters(_ resolver: String) -> JSON {
        func text(_ value: String?) -> JSON { value.map(JSON.string) ?? .null }
        return [
            "user": .string(name), "resolver": .string(resolver), "password": text(password?.value.text()),
            "mobile": text(mobile), "email": text(email), "givenname": text(givenName), "surname": text(surname),
        ]
    }
}

extension PrivacyIDEA {
    /// The user with this name (`GET /user/`), which the server would take for a pattern: `*` is refused.
    ///
    /// - Returns: `nil` when there is none.
    public func user(_ name: String, realm: String? = nil) async throws(PrivacyIDEAError) -> PrivacyIDEAUser? {
        guard !name.contains("*") else { return nil }
        // The server takes every parameter for a search, and finds nobody with a nonce.
        let answer = try await call(
            .get, "/user/", ["username": .string(name), "realm": realm.map(JSON.string) ?? .null], isFresh: false)
        guard let rows = answer.value.array else { throw .malformed("the list of users is missing") }
        for row in rows {
            let user = try PrivacyIDEAUser(row)
            if user.name == name { return user }
        }
        return nil
    }

    /// Creates a user (`POST /user/`). The server answers 500 for a name that exists: check first.
    public func addUser(_ user: NewPrivacyIDEAUser, resolver: String) async throws(PrivacyIDEAError) {
        _ = try await call(.post, "/user/", user.parameters(resolver))
    }

    /// Deletes a user (`DELETE /user/RESOLVER/USER`).
    public func deleteUser(_ name: String, resolver: String) async throws(PrivacyIDEAError) {
        _ = try await call(.delete, "/user/\(PathSegment.encode(resolver))/\(PathSegment.encode(name))")
    }

    /// The user stores of a realm, of the default realm without one (`GET /realm/`).
    public func resolvers(realm: String? = nil) async throws(PrivacyIDEAError) -> [String] {
        let realms = try await call(.get, "/realm/").value.object?.members ?? []
        let found = realms.first { realm == nil ? $0.value["default"]?.bool == true : $0.key == realm }
        return (found?.value["resolver"]?.array ?? []).compactMap { $0["name"]?.filled }
    }
}
