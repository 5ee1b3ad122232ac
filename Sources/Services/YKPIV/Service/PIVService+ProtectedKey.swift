// SPDX-License-Identifier: Apache-2.0

import YKCrypto
import YKTransport
import YKWire

// Every change below consists of several writes, any of which may be refused or interrupted. Those that may be refused
// come before SET MANAGEMENT KEY, and from the first write to the last the PIN gives access to the card's key: the
// printed object holds both keys, and the administrative data keeps the old salt until the new key is set.

extension PIVService {
    /// Changes the management key (SET MANAGEMENT KEY), and updates ykman's administrative data (object 5FFF00): a
    /// PIN-protected key is stored in the printed object and read back before it is set, and a previous one is removed.
    ///
    /// Requires the management key, and with `protected` the PIN too.
    ///
    /// - Parameters:
    ///   - key: The new key.
    ///   - type: Its cipher.
    ///   - needsTouch: Whether the card requires a touch to use the key.
    ///   - protected: Whether to store the key in the printed object, which requires the PIN.
    ///   - replacesPrinted: Whether a printed object with other content may be overwritten.
    /// - Throws: `managementKeyLength` or `printedInUse` before anything is written; the card's refusal, after which
    ///   nothing has changed; `uncertain` if the reply to SET MANAGEMENT KEY was lost; `unfinished` if the key was set
    ///   and the administrative data could not be completed.
    public func setManagementKey(
        _ key: consuming ManagementKey, type: ManagementKeyType, needsTouch: Bool = false, protected: Bool = false,
        replacesPrinted: Bool = false
    ) throws(PIVError) {
        guard key.secret.count == type.keySize else { throw .managementKeyLength(key.secret.count, needs: type) }
        if type != .tripleDES { try session.require(.aesManagementKey) }
        if needsTouch { try session.require(.policies) }
        let object = try content(.administration)
        let before = try administration(in: object)
        let new = SharedSecret(key.secret.copy())
        var staging: Staging?
        if protected {
            let printed = try content(.printed)
            if ProtectedKey.isForeign(printed), !replacesPrinted { throw .printedInUse }
            staging = Staging(notes: before, object: object ?? [], printed: printed)
            try stage([new] + (session.protectedKey.map { [$0] } ?? []), staging)
        }
        do {
            try session.manage(SetManagementKey(key, type, needsTouch: needsTouch)) { status in
                PIVError.isUnknown(status) || [.incorrectParameters, .wrongLength].contains(status)
                    ? .unsupportedManagementKey(type) : nil
            }
        } catch {
            guard error.isRefusal else { throw .uncertain(.managementKey(protected: protected), error) }
            unstage(staging)
            throw error
        }
        session.managementKeyType = type
        let hadProtectedKey = session.protectedKey != nil
        session.protectedKey = protected ? new : nil
        var notes = before
        notes.salt = nil
        if protected { notes.flags.insert(.keyStored) } else { notes.flags.remove(.keyStored) }
        do {
            // The administrative data comes last: while it lists a stored key, repeating the operation removes it.
            if before.flags.contains(.keyStored), !protected { try putObject(.printed, []) }
            if notes != staging?.staged ?? before { try putObject(.administration, notes.encoded) }
            if protected, hadProtectedKey { try putPrinted([new]) }
        } catch { throw .unfinished(.managementKey(protected: protected), error) }
    }

    /// Verifies the PIN, then authenticates with the management key that it protects: stored in the printed object, or
    /// derived from the PIN. After an interrupted change there may be two protected keys, one of which is the card's.
    ///
    /// - Throws: `notProtected` if the administrative data lists none; the PIN is not sent in that case.
    public func authenticate(withProtectedKeyOf pin: consuming PIVPIN) throws(PIVError) {
        let notes = try administration()
        guard notes.isKeyProtected else { throw .notProtected }
        let copy = pin.copy()
        try verify(copy)
        var keys: [SharedSecret] = []
        if notes.flags.contains(.keyStored) {
            keys = try parse(.printed, content(.printed) ?? []) { bytes throws(WireError) in
                try ProtectedKey(decoding: bytes).keys
            }
        }
        if let salt = notes.salt {
            keys.append(SharedSecret(try ManagementKey(pin: pin, salt: salt).secret.copy()))
        }
        guard let last = keys.popLast() else { throw .notProtected }
        for key in keys where try isManagementKey(ManagementKey(key.value.copy())) {
            session.protectedKey = key
            return
        }
        try authenticate(with: ManagementKey(last.value.copy()))
        session.protectedKey = last
    }

    /// Returns whether the printed object has content other than a management key. Requires the PIN.
    public func hasForeignPrintedObject() throws(PIVError) -> Bool { ProtectedKey.isForeign(try content(.printed)) }

    /// Changes the PIN (CHANGE REFERENCE DATA).
    ///
    /// If the management key is derived from the PIN, as old programs did, a new one is derived from the new PIN;
    /// otherwise it would be lost.
    ///
    /// - Throws: `shortPIN` before anything is sent; `wrong` or `blocked`; `refusedPIN` if the new one violates the
    ///   card's rules; `uncertain` if the reply was lost; `unfinished` if the PIN was changed and a later step failed.
    public func changePIN(from old: consuming PIVPIN, to new: consuming PIVPIN) throws(PIVError) {
        try check(old, .pin)
        try check(new, .pin)
        guard let notes = try derivationNotes(), let salt = notes.salt else { return try change(.pin, old, new) }
        try verify(old.copy())
        let present = try ManagementKey(pin: old, salt: salt)
        // A missing touch looks like a wrong key, and treating it as one would lose the right key: hence a second try.
        var isDerived = try isManagementKey(present.copy())
        if !isDerived { isDerived = try isManagementKey(present.copy()) }
        guard isDerived else { return try change(.pin, old, new) }
        let printed = try content(.printed)
        if ProtectedKey.isForeign(printed) { throw .printedInUse }
        let type = try findManagementKeyType()
        let nextSalt = try session.draw(16, secret: false)
        let next = try ManagementKey(pin: new, salt: nextSalt)
        let staging = Staging(notes: notes, object: notes.encoded, printed: printed)
        try stage([SharedSecret(present.secret.copy()), SharedSecret(next.secret.copy())], staging)
        do { try change(.pin, old, new) } catch {
            if error.isRefusal { unstage(staging) }
            throw error
        }
        do {
            try session.manage(SetManagementKey(next.copy(), type, needsTouch: false))
            var updated = notes
            updated.salt = nextSalt
            try putObject(.administration, updated.encoded)
            try putObject(.printed, printed ?? [])
        } catch { throw .unfinished(.pin, error) }
    }

    /// The administrative data, if the management key is derived from the PIN.
    private func derivationNotes() throws(PIVError) -> PIVAdministration? {
        do throws(PIVError) {
            let notes = try administration()
            return notes.salt != nil && !notes.flags.contains(.keyStored) ? notes : nil
        } catch {
            switch error {
            case .card(.link(.replay)): return nil  // Recordings of programs that do not ask.
            case .malformedObject: return nil
            case .card(.status), .pinRequired: if identity.isYubiKey { throw error }
            default: throw error
            }
            return nil
        }
    }

    private func isManagementKey(_ key: consuming ManagementKey) throws(PIVError) -> Bool {
        do { try authenticate(with: key) } catch {
            switch error {
            case .wrongManagementKey, .managementKeyLength: return false
            default: throw error
            }
        }
        return true
    }

    /// The administrative data and the printed object before a change.
    private struct Staging {
        let notes: PIVAdministration
        /// The administrative data as stored; empty for none.
        let object: [UInt8]
        let printed: [UInt8]?

        /// The administrative data during the change.
        var staged: PIVAdministration {
            var staged = notes
            staged.flags.insert(.keyStored)
            return staged
        }
    }

    /// Stores keys protected by the PIN, and records that in the administrative data. A refusal leaves everything
    /// unchanged.
    private func stage(_ keys: [SharedSecret], _ staging: Staging?) throws(PIVError) {
        guard let staging else { return }
        do throws(PIVError) {
            try putPrinted(keys)
            if staging.staged != staging.notes { try putObject(.administration, staging.staged.encoded) }
            guard try administration() == staging.staged else { throw PIVError.notStored(.administration) }
        } catch {
            unstage(staging)
            throw error
        }
    }

    /// Writes the printed object and reads it back.
    private func putPrinted(_ keys: [SharedSecret]) throws(PIVError) {
        var bytes = ProtectedKey(keys).encoded
        defer { Secret.wipe(&bytes) }
        try putObject(.printed, bytes)
        var stored = try object(.printed)
        defer { Secret.wipe(&stored) }
        guard constantTimeEqual(stored, bytes) else { throw .notStored(.printed) }
    }

    /// Restores the previous state. The administrative data comes first: the printed object still has the keys it
    /// lists.
    private func unstage(_ staging: Staging?) {
        guard let staging else { return }
        if staging.staged != staging.notes { try? putObject(.administration, staging.object) }
        try? putObject(.printed, staging.printed ?? [])
    }
}
