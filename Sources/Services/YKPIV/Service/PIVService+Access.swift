// SPDX-License-Identifier: Apache-2.0

public import YKCrypto
import YKTransport
import YKWire

extension PIVService {
    /// Verifies the PIN (VERIFY), once: a wrong one uses up a retry. From then on the card is reset when other
    /// programs may use it, so that none inherits the verified state.
    ///
    /// - Throws: `shortPIN` for a PIN below the minimum length, which is not sent; `wrong` or `blocked`.
    public func verify(_ pin: consuming PIVPIN) throws(PIVError) {
        try check(pin, .pin)
        session.channel.resetsOnRelease = true
        session.pinState = .notGiven
        try session.send(Verify(pin)) { .refused(.pin, $0) }
        session.pinState = .fresh
    }

    /// Returns whether the PIN is verified, possibly by an earlier program (VERIFY without data). Uses up no retry.
    public func isPINVerified() throws(PIVError) -> Bool {
        do { try session.send(VerifyQuery(.pin)) { .refused(.pin, $0) } } catch {
            switch error {
            case .wrong, .blocked, .card(.status): return false
            default: throw error
            }
        }
        session.pinState = .fresh
        return true
    }

    /// Leaves the PIN verified when the card is released, for the next program: until the card is reset, or another
    /// application is selected. Cancels the reset that ``verify(_:)`` arranged.
    public func leavePINVerified() {
        if !session.isManaging { session.channel.resetsOnRelease = false }
    }

    /// Ends the verified state of the PIN (VERIFY with P1 FF).
    public func forgetPIN() throws(PIVError) {
        try session.send(Unverify())
        session.pinState = .notGiven
    }

    /// Returns the remaining retries, without using one up: from metadata on firmware 5.3 and later, otherwise from
    /// VERIFY without data.
    ///
    /// `nil` if the card does not report them: for the PUK on older firmware, for a PIN that is already verified, and
    /// after any other answer.
    public func tries(of reference: PIVReference) throws(PIVError) -> PINMetadata? { try askTries(of: reference).value }

    func askTries(of reference: PIVReference) throws(PIVError) -> CardAnswer<PINMetadata> {
        let answer = try askMetadata(of: reference)
        guard answer.value == nil, reference == .pin else { return answer }
        do {
            try session.send(VerifyQuery(.pin)) { .refused(.pin, $0) }
            return answer
        } catch {
            switch error {
            case .wrong(_, let left): return .answered(PINMetadata(isDefault: nil, triesTotal: nil, triesLeft: left))
            case .blocked: return .answered(PINMetadata(isDefault: nil, triesTotal: nil, triesLeft: 0))
            default:
                if error.endsSession { throw error }
                return error.isUnrecorded ? answer : .refused(.unknownInstruction)
            }
        }
    }

    /// Changes the PUK (CHANGE REFERENCE DATA). Throws as ``changePIN(from:to:)`` does.
    public func changePUK(from old: consuming PIVPIN, to new: consuming PIVPIN) throws(PIVError) {
        try check(old, .puk)
        try check(new, .puk)
        try change(.puk, old, new)
    }

    /// Sets a new PIN with the PUK (RESET RETRY COUNTER), and resets the PIN's retry counter. Throws as
    /// ``changePIN(from:to:)`` does, with `.puk`.
    public func unblockPIN(puk: consuming PIVPIN, newPIN: consuming PIVPIN) throws(PIVError) {
        try check(puk, .puk)
        try check(newPIN, .pin)
        let command = ResetRetry(puk: puk, newPIN: newPIN)
        do { try session.send(command) { Self.changeMeaning(.puk, $0) } } catch { throw error.whileChanging(.pin) }
    }

    /// Sets the retry limits of PIN and PUK, 1 to 255 each (SET RETRIES), and resets both to their defaults.
    ///
    /// Requires the management key and the PIN.
    ///
    /// - Throws: `badInput`, `managementKeyRequired` or `pinRequired`; `notApplied`, and `unfinished` if the card does not
    ///   report the limits afterwards.
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
            let said: Int?
            do { said = try metadata(of: reference)?.triesTotal } catch { throw .unfinished(.retries, error) }
            guard said == nil || said == Int(total) else { throw .notApplied(.retries) }
        }
    }

    /// Refuses a PIN or PUK below the card's minimum length.
    func check(_ pin: borrowing PIVPIN, _ reference: PIVReference) throws(PIVError) {
        try pin.check(reference, least: identity.leastPINLength)
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

    /// Waits for a fingerprint (YubiKey Bio), which then replaces the PIN. Returns a temporary PIN of 16 bytes if
    /// requested; it replaces the fingerprint for the rest of the session.
    ///
    /// - Throws: `wrong`, `blocked`, or `unsupported` on keys without a sensor.
    public func verifyFingerprint(wantsTemporaryPIN: Bool = false) throws(PIVError) -> SharedSecret? {
        try session.require(.fingerprints)
        session.channel.resetsOnRelease = true
        var bytes = try session.send(VerifyFingerprint(wantsTemporaryPIN: wantsTemporaryPIN)) { fingerMeaning($0) }
        defer { Secret.wipe(&bytes) }
        session.pinState = .fresh
        return wantsTemporaryPIN ? SharedSecret(Secret(bytes)) : nil
    }

    /// Verifies a temporary PIN (YubiKey Bio) instead of a fingerprint.
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
