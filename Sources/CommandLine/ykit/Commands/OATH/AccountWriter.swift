// SPDX-License-Identifier: Apache-2.0

import YKOATH
import YKTransport
import YKWire

/// Writes new accounts to a key without overwriting or damaging another one by accident.
struct AccountWriter {
    let service: OATHService
    let force: Bool

    /// Writes an account; a name that is taken or extends another one is refused unless forced. `prepare` runs after
    /// the checks, before the key receives anything.
    func write(_ new: NewOATHAccount, after prepare: () throws -> Void = {}) async throws {
        try await check(new)
        try prepare()
        try await put(new)
    }

    /// Throws if a name is taken or extends another one, unless forced.
    func check(_ new: NewOATHAccount) async throws {
        guard !force else { return }
        let conflicts = try await service.conflicts(with: new.id)
        if conflicts.duplicate != nil { throw Self.exists(new.id) }
        if let other = conflicts.extending.first { throw Self.collides(new.id, other.id, conflicts.isHarmful) }
    }

    /// Writes an account that passed the checks.
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

    /// Reads back whether an account requires a touch, which keys report for time-based accounts.
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
