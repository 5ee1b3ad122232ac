// SPDX-License-Identifier: Apache-2.0

import TerminalIO
import Verbs
import YKSecurID
import YKTokenStore
import YKWire

extension TokenStore {
    /// Returns the token that a text matches; if there are several, the user chooses.
    func one(_ query: String?, _ run: Run) throws -> StoredToken {
        let found = try tokens(matching: query)
        if let only = found.first, found.count == 1 { return only }
        let failure = Explanation(
            "several-tokens", .severalDevices,
            query.map { "several tokens match '\($0.printable)'" }
                ?? "the store has \(found.count) tokens: give one, or choose one with 'securid use'",
            candidates: found.map(\.name))
        return found[try run.choose("which token?", among: failure.candidates.map(\.line), orElse: failure)]
    }
}

extension StoredToken {
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
