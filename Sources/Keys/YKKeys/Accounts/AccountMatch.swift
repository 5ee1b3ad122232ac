// SPDX-License-Identifier: Apache-2.0

public import YKFIDO
public import YKOATH
import YKWire

/// The accounts that match what a person typed: none, one, or several to choose from.
///
/// ```swift
/// switch AccountMatch("alice", in: try await oath.accounts()) {
/// case .one(let account): print(try await oath.code(for: account.id))
/// case .several(let accounts): print("which one?", accounts)
/// case .none: print("no such account")
/// }
/// ```
public enum AccountMatch<Account> {
    /// No account matches.
    case none
    /// Exactly one matches.
    case one(Account)
    /// Several match equally well, in their original order.
    case several([Account])

    fileprivate init(_ found: [Account]) {
        self =
            switch found.count {
            case 0: .none
            case 1: .one(found[0])
            default: .several(found)
            }
    }

    /// All that match.
    public var all: [Account] {
        switch self {
        case .none: []
        case .one(let account): [account]
        case .several(let accounts): accounts
        }
    }
}

extension AccountMatch: Sendable where Account: Sendable {}
extension AccountMatch: Equatable where Account: Equatable {}

extension AccountMatch where Account == OATHAccountID {
    /// Finds the OATH accounts for a query: the one with exactly this id, with or without its period (of several that
    /// differ only in Unicode normalization, the one with the same bytes), or else all whose id contains the query,
    /// ignoring case. An empty query matches none.
    ///
    /// - Parameter includesHidden: Whether hidden accounts match by a part of their id as well.
    public init(_ query: String, in ids: [OATHAccountID], includesHidden: Bool = false) {
        self.init(PartMatch(query, in: ids) { includesHidden || !$0.isHidden }.all)
    }
}

extension OATHAccountID: NamedEntry {
    package static func wholeTests(_ name: String) -> [(OATHAccountID) -> Bool] {
        [
            { $0.type == .totp && $0.textWithPeriod.utf8.elementsEqual(name.utf8) },
            { $0.text.utf8.elementsEqual(name.utf8) },
            { $0.type == .totp && $0.textWithPeriod == name },
            { $0.text == name },
        ]
    }

    package static func partTests(_ part: String) -> [(OATHAccountID) -> Bool] { [{ $0.text.mentions(part) }] }
}

extension AccountMatch where Account == OATHAccount {
    /// Finds the accounts for a query by their ids, as ``init(_:in:includesHidden:)`` does for ids alone.
    ///
    /// - Parameter includesHidden: Whether hidden accounts match by a part of their id as well.
    public init(_ query: String, in accounts: [OATHAccount], includesHidden: Bool = false) {
        let found = AccountMatch<OATHAccountID>(query, in: accounts.map(\.id), includesHidden: includesHidden).all
        self.init(accounts.filter { found.contains($0.id) })
    }
}

extension OATHAccountID {
    /// The id after the period, as in `60/Acme:alice`, which distinguishes accounts with the same id.
    public var textWithPeriod: String { "\(period.components.seconds)/\(text)" }

    /// The id, with the period if another account has the same id.
    public func text(among others: [OATHAccountID]) -> String {
        let isShared = others.contains { $0 != self && $0.text == text }
        return isShared && type == .totp ? textWithPeriod : text
    }
}

extension AccountMatch where Account == DiscoverableCredential {
    /// Finds the credentials for a query: by the identifier, or else by the account's name, or else by at least six
    /// characters of the identifier's beginning, or else by a part of the account's or relying party's name, ignoring
    /// case. An empty query matches none.
    public init(_ query: String, in all: [DiscoverableCredential]) { self.init(PartMatch(query, in: all).all) }
}

extension DiscoverableCredential: NamedEntry {
    package static func wholeTests(_ name: String) -> [(DiscoverableCredential) -> Bool] {
        let digits = name.lowercased()
        return [{ $0.id == name || Hex.encode($0.credential.id.id) == digits }, { $0.name == name }]
    }

    package static func partTests(_ part: String) -> [(DiscoverableCredential) -> Bool] {
        [
            { part.count >= 6 && $0.id.hasPrefix(part) },
            { $0.name.mentions(part) || $0.relyingParty.id.mentions(part) },
        ]
    }
}

extension AccountMatch where Account == Int {
    /// Finds the accounts with a name or identifier among those that a key offers for a relying party; the matches are
    /// indices, as `WebAuthnClient.get` expects them.
    public init(named name: String, among users: [FIDOUser]) {
        self.init(users.indices.filter { users[$0].isCalled(name) })
    }
}

extension FIDOUser {
    /// Whether a text equals the account's name, or its identifier in base64url or hexadecimal.
    public func isCalled(_ text: String) -> Bool {
        name == text || displayName == text || Base64.encodeURL(id) == text || Hex.encode(id) == text.lowercased()
    }
}
