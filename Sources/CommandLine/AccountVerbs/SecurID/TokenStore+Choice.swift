// SPDX-License-Identifier: Apache-2.0

import TerminalIO
import Verbs
import YKSecurID
import YKTokenStore
import YKWire

extension TokenStore {
    /// Returns the token that a text matches, or without one the current token; if there are several, the user chooses.
    func one(_ query: EntryQuery?, _ run: Run) throws -> StoredToken {
        if let query { return try run.entry(query, in: try all()) }
        let found = try tokens(matching: nil)
        if let only = found.first, found.count == 1 { return only }
        let failure = StoredToken.several(
            "the store has \(found.count) tokens: give one, or choose one with 'securid use'", found)
        return found[try run.choose(StoredToken.choice, among: failure.candidates.map(\.line), orElse: failure)]
    }

    /// Returns all tokens.
    ///
    /// - Throws: `empty` if there are none.
    func all() throws(TokenStoreError) -> [StoredToken] {
        guard !tokens.isEmpty else { throw .empty }
        return tokens
    }
}

extension StoredToken: ListedEntry {
    static var choice: String { "which token?" }

    static func unknown(_ query: EntryQuery) -> any Error { TokenStoreError.noSuchToken }

    static func several(_ query: EntryQuery, _ found: [StoredToken]) -> Explanation {
        several("several tokens match '\(query.printable)'", found)
    }

    fileprivate static func several(_ message: String, _ found: [StoredToken]) -> Explanation {
        Explanation("several-tokens", .severalDevices, message, candidates: found.map(\.name))
    }

    /// The display name.
    var name: String { nickname.map { "\($0.printable) (\(serial))" } ?? serial }
}

/// A token of the store.
struct TokenReport: Report {
    let token: StoredToken
    let isExpired: Bool
    let isCurrent: Bool

    static let members: [Member<TokenReport>] = [
        Member("serial") { $0.token.serial },
        Member("nickname") { $0.token.nickname },
        Member("type", "pinpad, keyfob or pinless") { $0.token.type.rawValue },
        Member("digits") { $0.token.digits },
        Member("interval", "in seconds") { $0.token.interval },
        Member("expiry", "the date; null if there is none") { $0.token.expiry?.description },
        Member("user") { $0.token.user },
        Member("deviceId") { $0.token.deviceID },
        Member("expired") { $0.isExpired },
        Member("current") { $0.isCurrent },
    ]

    init(_ token: StoredToken, in store: TokenStore, at time: Int64) {
        self.token = token
        isExpired = token.isExpired(at: time)
        isCurrent = token.serial == store.current
    }
}
