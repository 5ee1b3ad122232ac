// SPDX-License-Identifier: Apache-2.0

public import YKStore
public import YKWire

/// An account of the store: the common fields, and the others in ``details``.
public struct ApprovalAccount: Hashable, Sendable {
    /// The kind of an account; a later version may add kinds.
    public struct Kind: OpenSet {
        /// The word in the file.
        public let rawValue: String
        /// Wraps a word.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// Approves requests of a server with a key pair.
        public static let push = Kind(rawValue: "push")
        /// Answers the challenges of a TiQR server.
        public static let tiqr = Kind(rawValue: "tiqr")
        /// Answers challenges that the user types in (OCRA, RFC 6287).
        public static let ocra = Kind(rawValue: "ocra")
        /// Time-based codes, in the key's OATH application.
        public static let totp = Kind(rawValue: "totp")
        /// Counter-based codes, in the key's OATH application.
        public static let hotp = Kind(rawValue: "hotp")
        /// The accounts of a device, synchronized with a server.
        public static let container = Kind(rawValue: "container")
    }

    /// The identifier, unique in the store: the serial number and the server.
    public let id: String
    /// The kind of the account.
    public let kind: Kind
    /// The display name, unique in the store.
    public var name: String
    /// The serial number of the server's token.
    public let serial: String
    /// The operator of the server, as the server calls it.
    public var issuer: String
    /// Host and port of the server.
    public let server: String
    /// The time of enrollment, in seconds since 1970.
    public let added: Int64
    /// The fields specific to this kind.
    public var details: JSONValue.Object

    /// Maximum length of a name in characters.
    public static let nameLimit = 64

    /// Creates an account.
    ///
    /// - Parameters:
    ///   - server: Host and port.
    ///   - details: The fields specific to this kind.
    public init(
        _ kind: Kind, name: String, serial: String, issuer: String, server: String, added: Int64,
        details: JSONValue.Object = JSONValue.Object()
    ) {
        id = "\(serial)@\(server)"
        (self.kind, self.name, self.serial, self.issuer) = (kind, name, serial, issuer)
        (self.server, self.added, self.details) = (server, added, details)
    }

    /// Returns the account with other fields of its kind.
    func with(_ details: JSONValue.Object) -> ApprovalAccount {
        var account = self
        account.details = details
        return account
    }

    /// The public part of the account's record.
    public var description: JSONValue {
        [
            "kind": .string(kind.rawValue), "name": .string(name), "serial": .string(serial),
            "issuer": .string(issuer), "server": .string(server), "added": .int(added), "details": .object(details),
        ]
    }

    /// Reads a record; `nil` if it is not an account.
    public init?(_ record: StoreRecord) {
        let json = record.description
        guard let kind = json["kind"]?.string, let name = json["name"]?.string, let serial = json["serial"]?.string,
            let issuer = json["issuer"]?.string, let server = json["server"]?.string, let added = json["added"]?.int,
            let details = json["details"]?.object
        else { return nil }
        self.init(
            Kind(rawValue: kind), name: name, serial: serial, issuer: issuer, server: server, added: added,
            details: details)
        guard id == record.id else { return nil }
    }

    /// The record of an account without a secret.
    public var record: StoreRecord { StoreRecord(id: id, description: description) }
}

/// The accounts of a sealed store.
public enum ApprovalStore {
    /// The service name of the store.
    public static let service = "approve"
    /// Maximum number of accounts.
    public static let limit = 200

    /// Returns all accounts in the order of addition.
    ///
    /// - Throws: `malformed` if a record is not an account.
    public static func accounts(of store: SealedStore, path: String) throws(StoreError) -> [ApprovalAccount] {
        var accounts: [ApprovalAccount] = []
        for record in store.records {
            guard let account = ApprovalAccount(record) else {
                throw .malformed(path: path, reason: "an account cannot be read")
            }
            accounts.append(account)
        }
        return accounts
    }

    /// Returns the accounts that match a query: those with this name or identifier, or else with this serial number, or
    /// else all whose name, issuer, serial number or server contains it, ignoring case and Unicode normalization.
    public static func matches(_ query: String, in accounts: [ApprovalAccount]) -> [ApprovalAccount] {
        PartMatch(query, in: accounts).all
    }

    /// Returns an unused name: the requested one without control characters, truncated, and with a number appended if
    /// necessary.
    public static func freeName(_ wanted: String, in accounts: [ApprovalAccount]) -> String {
        let base = PushRequest.shown(wanted, limit: ApprovalAccount.nameLimit - 4).trimmed
        let start = base.isEmpty ? "account" : base
        let taken = Set(accounts.map(\.name))
        if !taken.contains(start) { return start }
        var number = 2
        while taken.contains("\(start) \(number)") { number += 1 }
        return "\(start) \(number)"
    }
}

extension ApprovalAccount: NamedEntry {
    package static func wholeTests(_ name: String) -> [(ApprovalAccount) -> Bool] {
        [{ $0.id == name || $0.name == name }, { $0.serial == name }]
    }

    package static func partTests(_ part: String) -> [(ApprovalAccount) -> Bool] {
        [{ account in [account.name, account.issuer, account.serial, account.server].contains { $0.mentions(part) } }]
    }
}
