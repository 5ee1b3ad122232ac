// SPDX-License-Identifier: Apache-2.0

public import YKCrypto
public import YKHTTP
import YKWire

/// A user in a user store.
public struct PrivacyIDEAUser: Hashable, Sendable {
    /// The login name.
    public let name: String
    /// The realm.
    public let realm: String?
    /// The user store.
    public let resolver: String?
    /// The mobile phone's number.
    public let mobile: String?
    /// The email address.
    public let email: String?
    /// The given name.
    public let givenName: String?
    /// The family name.
    public let surname: String?

    init(_ json: JSONValue) throws(ServerError) {
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

/// A user to be created.
public struct NewPrivacyIDEAUser: Sendable {
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
    public func user(_ name: String, realm: String? = nil) async throws(ServerError) -> PrivacyIDEAUser? {
        guard !name.contains(bytesOf: "*") else { return nil }
        // The server treats every parameter as a search field and finds nobody if a nonce is sent.
        let answer = try await call(
            .get, "/user/", ["username": .string(name), "realm": realm.map(JSONValue.string) ?? .null], isFresh: false)
        guard let rows = answer.value.array else { throw .malformed("the list of users is missing") }
        for row in rows {
            let user = try PrivacyIDEAUser(row)
            if user.name == name { return user }
        }
        return nil
    }

    /// Creates a user (`POST /user/`). The server answers 500 if the name exists, so check first.
    public func addUser(_ user: NewPrivacyIDEAUser, resolver: String) async throws(ServerError) {
        _ = try await call(.post, "/user/", user.parameters(resolver))
    }

    /// Deletes a user (`DELETE /user/RESOLVER/USER`).
    public func deleteUser(_ name: String, resolver: String) async throws(ServerError) {
        _ = try await call(.delete, "/user/\(PathSegment.encode(resolver))/\(PathSegment.encode(name))")
    }

    /// Returns the user stores of a realm or of the default realm (`GET /realm/`).
    public func resolvers(realm: String? = nil) async throws(ServerError) -> [String] {
        let realms = try await call(.get, "/realm/").value.object?.members ?? []
        let found = realms.first { realm == nil ? $0.value["default"]?.bool == true : $0.key == realm }
        return (found?.value["resolver"]?.array ?? []).compactMap { $0["name"]?.filled }
    }
}
