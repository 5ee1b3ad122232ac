// SPDX-License-Identifier: Apache-2.0

import YKCrypto
import YKTransport
import YKWire

// Every change below consists of several writes, any of which may be refused or cut off. What may be refused comes
// before SET MANAGEMENT KEY, and from the first write to the last the PIN leads to the key that the card has: the
// printed object holds both, and the notes keep the old salt until the new key is set.

extension PIVService {
    /// Sets another management key (SET MANAGEMENT KEY), and keeps ykman's notes (object 5FFF00) in step: a key that
    /// the PIN protects is stored in the printed object and read back before it is set, and one that was there is
    /// removed.
    ///
    /// Needs the management key, with `protected` the PIN too.
    ///
    /// - Parameters:
    ///   - key: The new key.
    ///   - type: Its cipher.
    ///   - needsTouch: Whether the card asks for a touch before it uses the key.
    ///   - protected: Whether the key is kept in the printed object, which needs the PIN.
    ///   - replacesPrinted: Whether a printed object with other content may be overwritten.
    /// - Throws: `managementKeyLength` or `printedInUse` before anything is written; the card's refusal, after which
    ///   everything is as before; `uncertain` when the reply to SET MANAGEMENT KEY was lost; `unfinished` when the
    ///   key is set and the notes could not be completed.
    public func setManagementKey(
        _ key: consuming ManagementKey, type: ManagementKeyType, needsTouch: Bool = false, protected: Bool = false,
        replacesPrinted: Bool = false
    ) throws(PIVError) {
        guard key.secret.count == type.keySize else { throw .managementKeyLength(key.secret.count, needs: type) }
        if type != .tripleDES { try session.require(.aesManagementKey) }
        if needsTouch { try session.require(.policies) }
        let before = try administration()
        let new = SharedSecret(key.secret.copy())
        var staging: Staging?
        if protected {
            let printed = try content(.printed)
            if ProtectedKey.isForeign(printed), !replacesPrinted { throw .printedInUse }
            staging = Staging(notes: before, printed: printed)
            try stage([new] + (session.protectedKey.map { [$0] } ?? []), staging)
        }
        do {
            try session.manage(SetManagementKey(key, type, needsTouch: needsTouch)) { status in
                PIVError.isUnknown(status) || [.incorrectParameters, .wrongLength].contains(status)
                    ? .unsupported(.aesManagementKey, identity) : nil
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
            // The notes come last: as long as they speak of a stored key, a repetition removes it.
            if before.flags.contains(.keyStored), !protected { try putObject(.printed, []) }
            if notes != staging?.staged ?? before { try putObject(.administration, notes.encoded) }
            if protected, hadProtectedKey { try putPrinted([new]) }
        } catch { throw .unfinished(.managementKey(protected: protected), error) }
    }

    /// Gives the PIN, then the management key that it protects: stored in the printed object, or derived from the
    /// PIN. After a change that was cut off there may be two, of which the card has one.
    ///
    /// - Throws: `notProtected` when the notes know of none; then the PIN was not tried.
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

    /// Whether the printed object holds something else than a management key. Needs the PIN.
    public func hasForeignPrintedObject() throws(PIVError) -> Bool { ProtectedKey.isForeign(try content(.printed)) }

    /// Sets another PIN (CHANGE REFERENCE DATA).
    ///
    /// Where the management key is derived from the PIN, as old programs left it, a new one is derived from the new
    /// PIN: else it would be lost.
    ///
    /// - Throws: `shortPIN` before anything is sent; `wrong` or `blocked`; `refusedPIN` when the card's rules are
    ///   against the new one; `uncertain` when the reply was lost; `unfinished` when the PIN is changed and what
    ///   follows failed.
    public func changePIN(from old: consuming PIVPIN, to new: consuming PIVPIN) throws(PIVError) {
        try check(old, .pin)
        try check(new, .pin)
        guard let notes = try derivationNotes(), let salt = notes.salt else { return try change(.pin, old, new) }
        try verify(old.copy())
        let present = try ManagementKey(pin: old, salt: salt)
        // A touch that does not come looks like a wrong key, after which the right one would be lost: hence twice.
        var isDerived = try isManagementKey(present.copy())
        if !isDerived { isDerived = try isManagementKey(present.copy()) }
        guard isDerived else { return try change(.pin, old, new) }
        let printed = try content(.printed)
        if ProtectedKey.isForeign(printed) { throw .printedInUse }
        let type = try findManagementKeyType()
        let nextSalt = try session.draw(16, secret: false)
        let next = try ManagementKey(pin: new, salt: nextSalt)
        let staging = Staging(notes: notes, printed: printed)
        try stage([SharedSecret(present.secret.copy()), SharedSecret(next.secret.copy())], staging)
        do { try change(.pin, old, new) } catch {
            if error.isRefusal { unstage(staging) }
            throw error
        }
        do {
            try session.manage(SetManagementKey(next.copy(), type, needsTouch: false))
            var settled = notes
            settled.salt = nextSalt
            try putObject(.administration, settled.encoded)
            try putObject(.printed, printed ?? [])
        } catch { throw .unfinished(.pin, error) }
    }

    /// The notes, when they say that the management key is derived from the PIN.
    private func derivationNotes() throws(PIVError) -> PIVAdministration? {
        do throws(PIVError) {
            let notes = try administration()
            return notes.salt != nil && !notes.flags.contains(.keyStored) ? notes : nil
        } catch {
            switch error {
            case .card(.link(.replay)): return nil  // Recordings of programs that do not ask.
            case .malformedObject: return nil
            case .card(.status(let status, _)) where PIVError.isUnknown(status): return nil
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
}

extension PIVService {
    /// What the notes and the printed object said before a change.
    private struct Staging {
        let notes: PIVAdministration
        let printed: [UInt8]?

        /// The notes while the change is under way.
        var staged: PIVAdministration {
            var staged = notes
            staged.flags.insert(.keyStored)
            return staged
        }
    }

    /// Stores keys behind the PIN, and notes that they are there. A refusal leaves everything as it was.
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

    /// Puts back what was there. The notes come first: the printed object still has what they speak of.
    private func unstage(_ staging: Staging?) {
        guard let staging else { return }
        if staging.staged != staging.notes { try? putObject(.administration, staging.notes.encoded) }
        try? putObject(.printed, staging.printed ?? [])
    }
}
