// SPDX-License-Identifier: Apache-2.0

package import TerminalIO
package import Verbs
import YKKeys
package import YKOATH

extension OATHAccountID: ListedEntry {
    package static var choice: String { "which account?" }

    package static func unknown(_ query: EntryQuery) -> any Error {
        Explanation(
            "no-such-account", .notFound, "no account matches '\(query.printable)'", hint: "ykit oath list")
    }

    package static func several(_ query: EntryQuery, _ found: [OATHAccountID]) -> Explanation {
        several("\(found.count) accounts match '\(query.printable)'", found)
    }

    /// The error for several accounts, where one is needed.
    package static func several(_ message: String, _ found: [OATHAccountID]) -> Explanation {
        Explanation(
            "several-accounts", .severalDevices, message,
            hint: "give the full name of one, preceded by its period and a slash if several have the same name",
            candidates: found.map { $0.displayName(among: found) })
    }

    /// The display name, with the period if another account has the same name.
    package func displayName(among others: [OATHAccountID]) -> String { text(among: others).printable }
}
