// SPDX-License-Identifier: Apache-2.0

public import YKCrypto
public import YKWire

/// An account on a server, on whose behalf requests are made.
public struct ServerAccount: Hashable, Sendable {
    /// What the account may do, in the server's word.
    public let role: String
    /// The account's name.
    public let name: String
    /// The account's realm; empty for local administrators.
    public let realm: String
    /// Whether the account may act only for itself: for these a server may ignore the user that a request names.
    public let actsOnlyForItself: Bool

    /// Describes an account.
    public init(role: String, name: String, realm: String, actsOnlyForItself: Bool) {
        (self.role, self.name, self.realm, self.actsOnlyForItself) = (role, name, realm, actsOnlyForItself)
    }
}

/// A login session.
public struct ServerSession: Sendable {
    /// The token that proves it.
    public let token: SharedSecret
    /// The account that is logged in.
    public let account: ServerAccount
    /// The expiry, in seconds since 1970-01-01 00:00 UTC; `nil` if it has none.
    public let expiry: Int64?

    /// Describes a session.
    public init(token: SharedSecret, account: ServerAccount, expiry: Int64?) {
        (self.token, self.account, self.expiry) = (token, account, expiry)
    }
}

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
}

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
}

/// The rule by which users may have devices remembered.
public struct RememberingRule: Sendable {
    /// The users, by name.
    public var users: [String]
    /// Entries that name more than one user, in the server's form.
    public let patterns: [String]
    /// The realms it applies to; empty for all.
    public var realms: [String]
    /// Whether the server does not have it yet.
    public let isNew: Bool
    /// What the server stores with the rule, for the implementation's own use.
    public let settings: JSONValue.Object

    /// Describes a rule.
    public init(
        users: [String], patterns: [String] = [], realms: [String] = [], isNew: Bool,
        settings: JSONValue.Object = JSONValue.Object()
    ) {
        (self.users, self.patterns, self.realms) = (users, patterns, realms)
        (self.isNew, self.settings) = (isNew, settings)
    }
}
