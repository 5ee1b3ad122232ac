// SPDX-License-Identifier: Apache-2.0

import TerminalIO
import YKKeys
package import YKOATH

extension OATHAccountID {
    /// Returns the only account that matches a query, or the one that the user chooses among several; fails without a
    /// match.
    package static func one(
        _ query: String, in ids: [OATHAccountID], showHidden: Bool = false, _ run: Run? = nil
    ) throws -> OATHAccountID {
        switch AccountMatch(query, in: ids, includesHidden: showHidden) {
        case .one(let id): return id
        case .none:
            throw Explanation(
                "no-such-account", .notFound, "no account matches '\(query.printable)'", hint: "ykit oath list")
        case .several(let found):
            let failure = Explanation(
                "several-accounts", .severalDevices, "\(found.count) accounts match '\(query.printable)'",
                hint: "give the full name of one, preceded by its period and a slash if several have the same name",
                candidates: found.map { $0.displayName(among: found) })
            guard let run else { throw failure }
            return found[try run.choose("which account?", among: failure.candidates.map(\.line), orElse: failure)]
        }
    }

    /// The display name, with the period if another account has the same name.
    package func displayName(among others: [OATHAccountID]) -> String { text(among: others).printable }
}
