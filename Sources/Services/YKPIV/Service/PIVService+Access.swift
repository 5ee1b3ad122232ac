// SPDX-License-Identifier: Apache-2.0

public import YKCrypto
import YKTransport
import YKWire

extension PIVService {
    /// Gives the PIN (VERIFY), once: a wrong one costs a try. From then on the card is reset at the end, so that no
    /// other program inherits what was unlocked.
    ///
    /// - Throws: `shortPIN` for a PIN that cannot be right, which is not sent; `wrong` or `blocked`.
    public func verify(_ pin: consuming PIVPIN) throws(PIVError) {
        try check(pin, .pin)
        session.channel.resetsAtEnd = true
        session.pinState = .notGiven
        try session.send(Verify(pin)) { .refused(.pin, $0) }
        session.pinState = .fresh
    }

    /// Makes the card forget that the PIN was given (VERIFY with P1 FF).
    public func forgetPIN() throws(PIVError) {
        try session.send(Unverify())
        session.pinState = .notGiven
    }

    /// How many tries are left, without using one up: by metadata from firmware 5.3 on, else by VERIFY without data.
    ///
    /// `nil` when the card does not say: of the PUK on older firmware, and of a PIN that is verified already.
    public func tries(of reference: PIVReference) throws(PIVError) -> PINMetadata? {
        if let metadata = try metadata(of: reference) { return metadata }
        guard reference == .pin else { return nil }
        do {
            try session.send(VerifyQuery(.pin)) { .refused(.pin, $0) }
            return nil
        } catch {
            switch error {
            case .wrong(_, let left): return PINMetadata(isDefault: nil, triesTotal: nil, triesLeft: left)
            case .blocked: return PINMetadata(isDefault: nil, triesTotal: nil, triesLeft: 0)
            default: throw error
            }
        }
    }

    /// Sets another PUK (CHANGE REFERENCE DATA). Throws as ``changePIN(from:to:)`` does.
    public func changePUK(from old: consuming PIVPIN, to new: consuming PIVPIN) throws(PIVError) {
        try check(old, .puk)
        try check(new, .puk)
        try change(.puk, old, new)
    }

    /// Sets a new PIN by the PUK (RESET RETRY COUNTER), and gives the PIN all its tries again. Throws as
    /// ``changePIN(from:to:)`` does, with `.puk`.
    public func unblockPIN(puk: consuming PIVPIN, newPIN: consuming PIVPIN) throws(PIVError) {
        try check(puk, .puk)
        try check(newPIN, .pin)
        let command = ResetRetry(puk: puk, newPIN: newPIN)
        do { try session.send(command) { Self.changeMeaning(.puk, $0) } } catch { throw error.whileChanging(.pin) }
    }

    /// Sets how many wrong tries PIN and PUK have, 1 to 255 each (SET RETRIES); both become those of a new card.
    ///
    /// Needs the management key and the PIN. Throws `badInput`, `managementKeyRequired` or `pinRequired`.
    public func setRetries(pin: Int, puk: Int) throws(PIVError) {
        guard let pin = UInt8(exactly: pin), let puk = UInt8(exactly: puk), pin > 0, puk > 0 else {
            throw .badInput("1 to 255 tries")
        }
        let (isManaging, hasPIN) = (session.isManaging, session.pinState != .notGiven)
        do {
            try session.send(SetRetries(pin: pin, puk: puk)) { status in
                guard status == .securityStatusNotSatisfied else { return nil }
                return !isManaging ? .managementKeyRequired : hasPIN ? nil : .pinRequired
            }
        } catch { throw error.whileChanging(.retries) }
        session.pinState = .notGiven
        for (reference, total) in [(PIVReference.pin, pin), (.puk, puk)] {
            let said = try metadata(of: reference)?.triesTotal
            guard said == nil || said == Int(total) else { throw .notApplied(.retries) }
        }
    }

    /// Refuses a PIN or PUK that is shorter than any that the card can have.
    func check(_ pin: borrowing PIVPIN, _ reference: PIVReference) throws(PIVError) {
        guard pin.count >= identity.leastPINLength else {
            throw .shortPIN(reference, pin.count, least: identity.leastPINLength)
        }
    }

    func change(
        _ reference: PIVReference, _ old: borrowing PIVPIN, _ new: borrowing PIVPIN
    ) throws(PIVError) {
        let command = ChangeReference(reference, from: old, to: new)
        do { try session.send(command) { Self.changeMeaning(reference, $0) } } catch {
            throw error.whileChanging(reference == .puk ? .puk : .pin)
        }
    }

    private static func changeMeaning(_ reference: PIVReference, _ status: StatusWord) -> PIVError? {
        if let refusal = PIVError.refused(reference, status) { return refusal }
        let rules: [StatusWord] = [.incorrectParameters, .conditionsNotSatisfied, .dataInvalid, .wrongLength]
        return rules.contains(status) ? .refusedPIN(status) : nil
    }
}

extension PIVService {
    /// What the card says of PIN or PUK (GET METADATA); `nil` when it has no such command.
    public func metadata(of reference: PIVReference) throws(PIVError) -> PINMetadata? {
        try lookUp(reference.rawValue) { objects throws(WireError) in try PINMetadata(objects) }
    }

    /// What the card says of the key in a slot (GET METADATA); `nil` when it has no such command, `noKey` when there
    /// is no key.
    public func metadata(of slot: PIVSlot) throws(PIVError) -> SlotMetadata? {
        try lookUp(slot.rawValue, missing: .noKey(slot)) { objects throws(WireError) in try SlotMetadata(objects) }
    }

    /// What the card says of the management key (GET METADATA); `nil` when it has no such command.
    public func managementKeyMetadata() throws(PIVError) -> ManagementKeyMetadata? {
        let metadata = try lookUp(PIVSlot.management.rawValue) { objects throws(WireError) in
            try ManagementKeyMetadata(objects)
        }
        if let metadata { session.managementKeyType = metadata.type }
        return metadata
    }

    /// What the card says of fingerprints (GET METADATA); `nil` when it has none.
    public func fingerprintMetadata() throws(PIVError) -> FingerprintMetadata? {
        try lookUp(PIVReference.fingerprint.rawValue) { objects throws(WireError) in
            try FingerprintMetadata(objects)
        }
    }

    private func lookUp<Metadata>(
        _ reference: UInt8, missing: PIVError? = nil, _ read: ([TLV]) throws(WireError) -> Metadata
    ) throws(PIVError) -> Metadata? {
        if identity.supports(.metadata) == false { return nil }
        let objects: [TLV]
        do {
            objects = try session.send(GetMetadata(reference)) { $0 == .referenceNotFound ? missing : nil }
        } catch {
            switch error {
            case .card(.status(let status, _)) where PIVError.isUnknown(status) || status == .referenceNotFound:
                return nil
            case .card(.link(.replay)): return nil  // Recordings of programs that do not ask.
            default: throw error
            }
        }
        do { return try read(objects) } catch { throw .card(.malformed(error, during: GetMetadata.name)) }
    }
}

extension PIVService {
    /// Waits for a finger (YubiKey Bio), which then counts as the PIN. Answers a temporary PIN of 16 bytes where that
    /// is asked for; it counts as the finger for the rest of the session.
    ///
    /// Throws `wrong`, `blocked`, or `unsupported` on keys without a sensor.
    public func verifyFingerprint(wantsTemporaryPIN: Bool = false) throws(PIVError) -> SharedSecret? {
        try session.require(.fingerprints)
        session.channel.resetsAtEnd = true
        var bytes = try session.send(VerifyFingerprint(wantsTemporaryPIN: wantsTemporaryPIN)) { fingerMeaning($0) }
        defer { Secret.wipe(&bytes) }
        session.pinState = .fresh
        return wantsTemporaryPIN ? SharedSecret(Secret(bytes)) : nil
    }

    /// Gives a temporary PIN (YubiKey Bio) in place of the finger.
    public func verify(temporaryPIN pin: consuming Secret) throws(PIVError) {
        try session.require(.fingerprints)
        guard pin.count == 16 else { throw .badPINLength(pin.count) }
        try session.send(VerifyTemporaryPIN(pin)) { fingerMeaning($0) }
        session.pinState = .fresh
    }

    private func fingerMeaning(_ status: StatusWord) -> PIVError? {
        if let refusal = PIVError.refused(.fingerprint, status) { return refusal }
        let lacks = PIVError.isUnknown(status) || status == .referenceNotFound
        return lacks ? .unsupported(.fingerprints, identity) : nil
    }
}
