// SPDX-License-Identifier: Apache-2.0

import YKOATH
import YKWire

/// Finds the account for a query.
enum AccountMatch {
    /// Returns the accounts that match a query: the one with exactly this id, or else all whose id contains it,
    /// ignoring case. Hidden accounts match only by their exact id, unless they are shown.
    static func all(_ query: String, in ids: [OATHAccountID], showHidden: Bool = false) -> [OATHAccountID] {
        let whole = ids.filter { $0.type == .totp && $0.textWithPeriod == query }
        if !whole.isEmpty { return whole }
        let exact = ids.filter { $0.text == query }
        if !exact.isEmpty { return exact }
        return ids.filter { (showHidden || !$0.isHidden) && $0.text.mentions(query) }
    }

    /// Returns the only match, or the one that the user chooses among several; fails without a match.
    static func one(
        _ query: String, in ids: [OATHAccountID], showHidden: Bool = false, _ world: World? = nil
    ) throws -> OATHAccountID {
        let found = all(query, in: ids, showHidden: showHidden)
        guard let first = found.first else {
            throw Explanation(
                "no-such-account", .notFound, "no account matches '\(query.printable)'", hint: "ykit oath list")
        }
        guard found.count == 1 else {
            let failure = Explanation(
                "several-accounts", .severalDevices, "\(found.count) accounts match '\(query.printable)'",
                hint: "write the whole name of one, with its period and a slash before it where names are the same",
                candidates: found.map { $0.told(among: found) })
            guard let world else { throw failure }
            return found[try world.choose("which account?", among: failure.candidates, orElse: failure)]
        }
        return first
    }
}

extension OATHAccountID {
    /// The name after the period, as in `60/Acme:alice`, which distinguishes accounts with the same name.
    var textWithPeriod: String { "\(period.components.seconds)/\(text)" }

    /// The display name, with the period if another account has the same name.
    func told(among others: [OATHAccountID]) -> String {
        let isShared = others.contains { $0 != self && $0.text == text }
        return (isShared && type == .totp ? textWithPeriod : text).printable
    }
}
