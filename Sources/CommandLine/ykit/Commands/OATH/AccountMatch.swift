// SPDX-License-Identifier: Apache-2.0

import YKOATH

/// Finds the account that a person means.
enum AccountMatch {
    /// The accounts a query finds: the exact id alone, else all that contain it in any letter case. Hidden accounts are
    /// found by their exact id, or when they are shown.
    static func all(_ query: String, in ids: [OATHAccountID], showHidden: Bool = false) -> [OATHAccountID] {
        let exact = ids.filter { $0.text == query }
        if !exact.isEmpty { return exact }
        return ids.filter { (showHidden || !$0.isHidden) && $0.text.mentions(query) }
    }

    /// The only account a query finds; none and several are failures.
    static func one(
        _ query: String, in ids: [OATHAccountID], showHidden: Bool = false
    ) throws(Explanation)
        -> OATHAccountID
    {
        let found = all(query, in: ids, showHidden: showHidden)
        guard let first = found.first else {
            throw Explanation(
                "no-such-account", .notFound, "no account matches '\(query.printable)'", hint: "ykit oath list")
        }
        guard found.count == 1 else {
            throw Explanation(
                "several-accounts", .severalDevices, "\(found.count) accounts match '\(query.printable)'",
                hint: "write the whole name of one", candidates: found.map(\.text.printable))
        }
        return first
    }
}
