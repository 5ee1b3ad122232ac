// SPDX-License-Identifier: Apache-2.0

import YKOATH

/// Finds the account that a person means.
enum AccountMatch {
    /// The accounts a query finds: the exact id alone, else all that contain it in any letter case. Hidden accounts are
    /// found by their exact id, or when they are shown.
    static func all(_ query: String, in ids: [OATHAccountID], showHidden: Bool = false) -> [OATHAccountID] {
        let whole = ids.filter { $0.type == .totp && $0.textWithPeriod == query }
        if !whole.isEmpty { return whole }
        let exact = ids.filter { $0.text == query }
        if !exact.isEmpty { return exact }
        return ids.filter { (showHidden || !$0.isHidden) && $0.text.mentions(query) }
    }

    /// The only account a query finds, or the one that the person chooses among several; none is a failure.
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
    /// The name with the period before it, as in `60/Acme:alice`: what tells accounts of one name apart.
    var textWithPeriod: String { "\(period)/\(text)" }

    /// The name for a person, with the period where another account has the same name.
    func told(among others: [OATHAccountID]) -> String {
        let isShared = others.contains { $0 != self && $0.text == text }
        return (isShared && type == .totp ? textWithPeriod : text).printable
    }
}
