// SPDX-License-Identifier: Apache-2.0

import YKOATH
import YKTransport
import YKWire

/// Writes new accounts onto a key, but never by accident over or beside one that it would damage.
struct AccountWriter {
    let service: OATHService
    let force: Bool

    /// Writes one account; names that are taken, or that extend another, are refused unless forced. `prepare` runs when
    /// nothing is in the way, before the key gets anything.
    func write(_ new: NewOATHAccount, after prepare: () throws -> Void = {}) async throws {
        try await check(new)
        try prepare()
        try await put(new)
    }

    /// Throws when a name is taken, or extends another, unless that is forced.
    func check(_ new: NewOATHAccount) async throws {
        guard !force else { return }
        let conflicts = try await service.conflicts(with: new.id)
        if conflicts.duplicate != nil { throw Self.exists(new.id) }
        if let other = conflicts.extending.first { throw Self.collides(new.id, other.id, conflicts.isHarmful) }
    }

    /// Writes an account that was checked.
    func put(_ new: NewOATHAccount) async throws {
        do { try await service.put(new) } catch {
            // Some firmware refuses to overwrite an account.
            guard force, case OATHError.card(.status(.conditionsNotSatisfied, _)) = error,
                let old = try await service.conflicts(with: new.id).duplicate
            else { throw error }
            try await service.replace(old.id, with: new)
        }
        if new.needsTouch { try await checkTouch(new.id) }
    }

    /// Reads back that an account requires a touch, which keys tell of time-based ones.
    private func checkTouch(_ id: OATHAccountID) async throws {
        guard id.type == .totp,
            let entry = try await service.codes(recalculating: false).first(where: { $0.account.id == id }),
            case .code = entry.outcome
        else { return }
        throw Explanation(
            "not-applied", .failed, "'\(id.text.printable)' is stored, but the key gives its codes without a touch",
            hint: "delete it, unless that will do: ykit oath delete NAME")
    }

    private static func exists(_ id: OATHAccountID) -> Explanation {
        Explanation(
            "exists", .policy, "an account '\(id.text.printable)' is there already, its secret would be lost",
            hint: "choose another name, or overwrite it with --force")
    }

    private static func collides(_ id: OATHAccountID, _ other: OATHAccountID, _ isHarmful: Bool) -> Explanation {
        Explanation(
            "name-collides", .policy,
            "the name '\(id.text.printable)' is the beginning of '\(other.text.printable)'"
                + (isHarmful ? ", which this firmware would overwrite" : ", which some firmware confuses"),
            hint: "choose another name, or add it all the same with --force")
    }
}

extension NewOATHAccount {
    /// The account as a member of an answer, without its secret.
    var json: JSON {
        OATHAccount(id: id, algorithm: algorithm, needsTouch: needsTouch, digits: digits).json.asJSON
    }
}

extension JSON.Object {
    var asJSON: JSON { .object(self) }
}
