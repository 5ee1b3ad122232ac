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

    /// The matches of the first test that any account passes.
    fileprivate static func first(_ tests: [(Account) -> Bool], in all: [Account]) -> AccountMatch {
        tests.lazy.map { AccountMatch(all.filter($0)) }.first { !$0.all.isEmpty } ?? .none
    }
}

extension AccountMatch: Sendable where Account: Sendable {}
extension AccountMatch: Equatable where Account: Equatable {}

extension AccountMatch where Account == OATHAccountID {
    /// Finds the OATH accounts for a query: the one with exactly this id, with or without its period (of several that
    /// differ only in Unicode normalization, the one with the same bytes), or else all whose id contains the query,
    /// ignoring case.
    ///
    /// - Parameter includesHidden: Whether hidden accounts match by a part of their id as well.
    public init(_ query: String, in ids: [OATHAccountID], includesHidden: Bool = false) {
        self = .first(
            [
                { $0.type == .totp && $0.textWithPeriod.utf8.elementsEqual(query.utf8) },
                { $0.text.utf8.elementsEqual(query.utf8) },
                { $0.type == .totp && $0.textWithPeriod == query },
                { $0.text == query },
                { (includesHidden || !$0.isHidden) && $0.text.mentions(query) },
            ], in: ids)
    }
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
    /// Finds the credentials for a query: by the identifier, or else by at least six characters of its beginning, or
    /// else by the account's name, or else by a part of the account's or relying party's name, ignoring case.
    public init(_ query: String, in all: [DiscoverableCredential]) {
        let digits = query.lowercased()
        self = .first(
            [
                { $0.id == query || Hex.encode($0.credential.id.id) == digits },
                { query.count >= 6 && $0.id.hasPrefix(query) },
                { $0.name == query },
                { $0.name.mentions(query) || $0.relyingParty.id.mentions(query) },
            ], in: all)
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
