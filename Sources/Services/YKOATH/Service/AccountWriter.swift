// SPDX-License-Identifier: Apache-2.0

/// Writes new accounts to a key without accidentally overwriting or damaging others, including those that it wrote
/// itself.
public final class AccountWriter {
    private let service: OATHService
    private var written: Set<[UInt8]> = []

    /// Creates a writer, for one key.
    public init(service: OATHService) { self.service = service }

    /// Writes an account.
    ///
    /// - Parameters:
    ///   - force: Whether an account that was on the key before is overwritten.
    ///   - prepare: Runs after the checks, before the key receives anything.
    /// - Throws: As ``check(_:force:)``, ``put(_:force:)`` and ``checkTouch(_:)``, and what `prepare` throws.
    public func write(_ new: NewOATHAccount, force: Bool, after prepare: () throws -> Void = {}) async throws {
        try await check(new, force: force)
        try prepare()
        try await put(new, force: force)
        try await checkTouch(new)
    }

    /// Checks that no other account is overwritten or damaged.
    ///
    /// - Throws: `writtenBefore`, even if forced; `exists` and `nameCollides` unless forced.
    public func check(_ new: NewOATHAccount, force: Bool) async throws(OATHError) {
        if written.contains(new.id.rawName) { throw .writtenBefore(new.id) }
        guard !force else { return }
        let conflicts = try await service.conflicts(with: new.id)
        if conflicts.duplicate != nil { throw .exists(new.id) }
        if conflicts.isHarmful, let other = conflicts.extending.first {
            throw .nameCollides(new.id, with: other.id)
        }
    }

    /// Writes an account that passed the checks.
    ///
    /// - Throws: As ``OATHService/put(_:)``.
    public func put(_ new: NewOATHAccount, force: Bool) async throws(OATHError) {
        do throws(OATHError) { try await service.put(new) } catch {
            // CanoKey refuses to overwrite an account, with the status of a key that accepts no accounts at all.
            guard force, error == .notApproved, let old = try await service.conflicts(with: new.id).duplicate else {
                throw error
            }
            try await service.replace(old.id, with: new)
        }
        written.insert(new.id.rawName)
    }

    /// Checks that a written account requires a touch if it should, which keys report for time-based accounts.
    ///
    /// - Throws: `touchNotApplied`, `unfinished`; the account is stored nevertheless.
    public func checkTouch(_ new: NewOATHAccount) async throws(OATHError) {
        let id = new.id
        guard new.needsTouch, id.type == .totp else { return }
        let entries: [OATHEntry]
        do { entries = try await service.codes(recalculating: false) } catch {
            throw .unfinished(.unchecked(id), error)
        }
        if case .code? = entries.first(where: { $0.account.id == id })?.outcome { throw .touchNotApplied(id) }
    }
}
