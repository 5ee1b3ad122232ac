// SPDX-License-Identifier: Apache-2.0

import Synchronization
package import TerminalIO
import Verbs
package import YKFIDO
import YKKeys
import YKWire

/// Chooses one of the accounts that a key stores for a relying party: the named one, or else the one that the user
/// picks at the terminal. An account is never chosen automatically.
final class AccountChoice: Sendable {
    private let name: String?
    private let terminal: Terminal
    private let state = Mutex<(accounts: [FIDOUser], problem: Explanation?)>(([], nil))

    init(_ name: String?, _ terminal: Terminal) { (self.name, self.terminal) = (name, terminal) }

    /// The accounts to choose from.
    var accounts: [FIDOUser] { state.withLock { $0.accounts } }
    /// Why none was chosen.
    var problem: Explanation? { state.withLock { $0.problem } }

    /// Returns the index of the chosen account, or `nil`.
    @Sendable func choose(_ assertions: [Assertion]) async -> Int? {
        let users = assertions.map { $0.response.user ?? FIDOUser(id: []) }
        state.withLock { $0.accounts = users }
        do {
            return try name.map { try Self.one($0, of: users) } ?? ask(users)
        } catch {
            state.withLock { $0.problem = Explanation(error) }
            return nil
        }
    }

    /// Checks that the only credential that signed belongs to the named account.
    ///
    /// A key returns the account name only if it has several accounts (CTAP 2.1 §6.2.2), so the name of a single one is
    /// looked up among the stored credentials, which requires the PIN.
    func confirm(_ signed: AuthenticationResponse, rpID: String, of service: FIDOService) async throws {
        guard let name, accounts.isEmpty else { return }
        var user = FIDOUser(id: signed.userHandle ?? [])
        if signed.userHandle != nil, !user.isCalled(name), try await service.info().hasPIN {
            let stored = try await service.discoverableCredentials(rpID: rpID)
            user = stored.first { $0.credential.id.id == signed.id }?.credential.user ?? user
        }
        guard signed.userHandle != nil, user.isCalled(name) else { throw Self.missing(name, [user]) }
        state.withLock { $0.accounts = [user] }
    }

    private static func one(_ name: String, of users: [FIDOUser]) throws(Explanation) -> Int {
        switch AccountMatch(named: name, among: users) {
        case .one(let only): return only
        case .none: throw missing(name, users)
        case .several(let found):
            throw Explanation(
                "several-accounts", .severalDevices, "\(found.count) accounts are called '\(name.printable)'",
                hint: "give the identifier of one: --user ID", candidates: found.map { users[$0].idWords })
        }
    }

    private static func missing(_ name: String, _ users: [FIDOUser]) -> Explanation {
        Explanation(
            "no-such-account", .notFound, "no account matches '\(name.printable)'",
            hint: "keys reveal names only after the PIN: use --uv required, or give the identifier",
            candidates: users.filter { !$0.id.isEmpty }.map(\.words))
    }

    /// Asks the user. Accounts with the same name are shown with their identifiers, which differ within a relying
    /// party.
    private func ask(_ users: [FIDOUser]) throws -> Int {
        let lines = users.map { user in
            users.filter { $0.words == user.words }.count == 1
                ? user.words
                : user.idWords
        }
        guard terminal.hasPerson else {
            throw Explanation(
                "several-accounts", .severalDevices, "the key stores \(users.count) accounts, choose one",
                hint: "--user NAME, or the identifier of one", candidates: users.map(\.idWords))
        }
        return try terminal.pick("which account?", among: lines)
    }
}

extension FIDOUser {
    /// A short description of the account.
    var words: String { (name ?? displayName ?? Base64.encodeURL(id)).printable }

    /// The name, if any, and the identifier.
    fileprivate var idWords: String {
        name == nil && displayName == nil ? words : "\(words) (\(Base64.encodeURL(id)))"
    }
}

extension FIDOUser: Report {
    package static let members: [Member<Self>] = [
        Member("id") { Base64.encodeURL($0.id) }, Member("name") { $0.name },
        Member("displayName") { $0.displayName },
    ]
}
