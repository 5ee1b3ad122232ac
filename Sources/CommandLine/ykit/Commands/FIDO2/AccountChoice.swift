// SPDX-License-Identifier: Apache-2.0

import Synchronization
import YKFIDO
import YKWire

/// Chooses one of the accounts that a key remembers for a relying party: the one that is named, else the one that the
/// person at the terminal says, else the one that the key gave first, which is its newest.
final class AccountChoice: Sendable {
    private let name: String?
    private let terminal: Terminal
    private let state = Mutex<(accounts: [FIDOUser], problem: Explanation?)>(([], nil))

    init(_ name: String?, _ terminal: Terminal) {
        self.name = name
        self.terminal = terminal
    }

    /// The accounts that there were to choose from.
    var accounts: [FIDOUser] { state.withLock { $0.accounts } }
    /// Why none was chosen.
    var problem: Explanation? { state.withLock { $0.problem } }

    /// The position of the account.
    @Sendable func choose(_ assertions: [Assertion]) async -> Int? {
        let users = assertions.map { $0.response.user ?? FIDOUser(id: []) }
        state.withLock { $0.accounts = users }
        guard let name else {
            if let place = Self.ask(users) { return place }
            terminal.warn("the key remembers \(users.count) accounts, the newest signed; choose with --user NAME")
            return 0
        }
        if let place = users.firstIndex(where: { $0.isCalled(name) }) { return place }
        state.withLock {
            $0.problem = Explanation(
                "no-such-account", .notFound, "none of the accounts is '\(name.printable)'",
                hint: "keys tell names only after the PIN: --uv required; or give the identifier",
                candidates: users.map(\.words))
        }
        return nil
    }

    /// Asks the person; nothing without a terminal, or for an answer that is no number of the list.
    private static func ask(_ users: [FIDOUser]) -> Int? {
        guard let prompt = try? Prompt(orElse: "") else { return nil }
        for (place, user) in users.enumerated() { prompt.tell("  \(place + 1)  \(user.words)") }
        guard let answer = try? prompt.line("which account?"), let number = Int(answer.trimmed) else { return nil }
        return users.indices.contains(number - 1) ? number - 1 : nil
    }
}

extension FIDOUser {
    /// The account in a few words.
    var words: String { (name ?? displayName ?? Base64.encodeURL(id)).printable }

    /// Whether a text is the account's name or identifier.
    func isCalled(_ text: String) -> Bool {
        name == text || displayName == text || Base64.encodeURL(id) == text || Hex.encode(id) == text.lowercased()
    }

    var json: JSON {
        [
            "id": .string(Base64.encodeURL(id)), "name": name.map(JSON.string) ?? .null,
            "displayName": displayName.map(JSON.string) ?? .null,
        ]
    }
}
