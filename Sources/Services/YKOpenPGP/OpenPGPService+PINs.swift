// SPDX-License-Identifier: Apache-2.0

public import YKCrypto
import YKProtocols
import YKTransport
import YKWire

/// The purpose of a PIN verification.
public enum OpenPGPAccess: Sendable, Hashable {
    /// Signatures, by the user PIN (81).
    case signing
    /// Decryption, authentication and private data, by the user PIN (82).
    case using
    /// Administration, by the admin PIN (83).
    case administration

    var number: UInt8 {
        switch self {
        case .signing: Password.signing
        case .using: Password.user
        case .administration: Password.admin
        }
    }

    /// The PIN that it requires.
    public var reference: OpenPGPKDF.Reference { self == .administration ? .admin : .user }
}

/// Data that stays the same until something is written.
struct OpenPGPCardFacts {
    /// The application related data; the retries may have changed since.
    let status: OpenPGPStatus
    /// The same data as read.
    let application: [UInt8]

    var identity: OpenPGPIdentity { status.identity }
    var isYubiKey: Bool { identity.manufacturer == OpenPGPIdentity.yubico }

    /// Whether it is a Gnuk token: it changes the user PIN only while it holds a key, and accepts a key derivation only
    /// without one. Until an admin PIN is set, the user PIN administers it, once it holds a key. Makers of tokens use
    /// other numbers than FSIJ's, but not other historical bytes.
    var isGnuk: Bool { identity.manufacturer == OpenPGPIdentity.fsij || status.isGnuk }
    /// Minimum length of a PIN that is verified as the admin PIN.
    var leastAdmin: Int { isGnuk ? 6 : 8 }
    /// Whether PUT DATA F9 is known to set the PINs as well; most other cards leave that to the host.
    var derivationSetsPINs: Bool { isYubiKey || isGnuk }
    /// Whether the card reports a key in a slot.
    func hasKey(in slot: OpenPGPSlot) -> Bool {
        guard let key = status.keys.first(where: { $0.slot == slot }) else { return false }
        return key.origin.map { $0 != .none } ?? (key.fingerprint != nil)
    }
    /// The occurrence of a slot's certificate (§7.2.5); CanoKeys count in reverse.
    func occurrence(of slot: OpenPGPSlot) -> UInt8 {
        let number = UInt8(truncatingIfNeeded: slot.rawValue)
        return identity.manufacturer == OpenPGPIdentity.canokeys ? number : 2 - number
    }
}

extension OpenPGPService {
    func cardFacts() throws(OpenPGPError) -> OpenPGPCardFacts {
        if let facts { return facts }
        let bytes = try read(Tag.application) { $0 }
        do {
            let facts = OpenPGPCardFacts(status: try OpenPGPStatus(decoding: bytes), application: bytes)
            self.facts = facts
            counters = facts.status.pins
            return facts
        } catch { throw .card(.malformed(error, during: GetData.name)) }
    }

    /// Whether this is a YubiKey with this firmware version or a later one.
    func isYubiKey(since version: FirmwareVersion) throws(OpenPGPError) -> Bool {
        try firmware().map { $0 >= version } ?? false
    }

    /// Whether cached touch policies and attestation are supported (firmware 5.2.1).
    func hasAttestation() throws(OpenPGPError) -> Bool { try isYubiKey(since: FirmwareVersion(5, 2, 1)) }

    /// The card's information about the key of a slot, as of the last write.
    func keyInfo(_ slot: OpenPGPSlot) throws(OpenPGPError) -> OpenPGPKeyInfo? {
        try cardFacts().status.keys.first { $0.slot == slot }
    }

    /// Returns when a key requires a touch; `nil` on cards without touch policies.
    public func touchPolicy(_ slot: OpenPGPSlot) throws(OpenPGPError) -> OpenPGPTouchPolicy? {
        try keyInfo(slot)?.touch
    }

    /// Reads the remaining retries (GET DATA C4).
    public func pinStatus() throws(OpenPGPError) -> OpenPGPPINStatus {
        let status = try read(Tag.pinStatus) { bytes throws(WireError) in try OpenPGPPINStatus(decoding: bytes) }
        counters = status
        return status
    }

    /// Verifies a PIN (VERIFY). If a key derivation is set up, the hash of the PIN is sent.
    ///
    /// - Parameters:
    ///   - pin: The PIN in UTF-8, as typed.
    ///   - access: Its purpose; 81 and 82 are verified separately.
    /// - Throws: `wrongPIN`, `blocked`, `badPINLength`.
    public func verify(_ pin: borrowing Secret, for access: OpenPGPAccess) throws(OpenPGPError) {
        let sent = try prepare(pin, access.reference)
        channel.resetsOnRelease = true
        do { try channel.send(VerifyPIN(access.number, sent)) } catch {
            throw try meaning(error, access.reference)
        }
        verified.insert(access)
        counters = nil
    }

    /// Changes the user PIN or the admin PIN (CHANGE REFERENCE DATA).
    ///
    /// - Throws: `wrongPIN`, `blocked`, `badPINLength`, `refusedPIN`; `badInput` for the reset code, which is set.
    public func changePIN(
        _ reference: OpenPGPKDF.Reference, from old: borrowing Secret, to new: borrowing Secret
    ) throws(OpenPGPError) {
        guard reference != .reset else { throw .badInput("a reset code is set, not changed") }
        let was = try prepare(old, reference)
        let becomes = try prepare(new, reference, isNew: true)
        let number: UInt8 = reference == .admin ? Password.admin : Password.signing
        do { try channel.send(ChangePIN(number, from: was, to: becomes)) } catch {
            if reference == .user, case .status(.conditionsNotSatisfied, _) = error, try holdsNoKeyOnGnuk() {
                throw .unsupported("a change of the user PIN while it holds no key")
            }
            if let refusal = try refusal(error, reference) { throw refusal }
            throw try meaning(error, reference)
        }
        counters = nil
        // The user PIN may have acted as the admin PIN.
        if reference == .user, try cardFacts().isGnuk { verified.remove(.administration) }
    }

    private func holdsNoKeyOnGnuk() throws(OpenPGPError) -> Bool {
        guard try cardFacts().isGnuk else { return false }
        return try status().keys.allSatisfy { $0.fingerprint == nil }
    }

    /// The error for a new PIN that a YubiKey refuses; older ones answer a wrong PIN in the same way.
    private func refusal(
        _ error: CardError, _ reference: OpenPGPKDF.Reference
    ) throws(OpenPGPError) -> OpenPGPError? {
        guard case .status(.conditionsNotSatisfied, _) = error else { return nil }
        guard try isYubiKey(since: FirmwareVersion(4, 0, 0)) else { return nil }
        return .refusedPIN(reference)
    }

    /// Sets the reset code (PUT DATA D3); the admin PIN must be verified.
    ///
    /// - Throws: `refusedPIN`, `badPINLength`, `pinRequired`.
    public func setResetCode(_ code: borrowing Secret) throws(OpenPGPError) {
        let sent = try prepare(code, .reset)
        do { try channel.send(PutData(tag: Tag.resettingCode, value: sent.copyBytes())) } catch {
            throw try refusal(error, .reset) ?? .administration(error)
        }
    }

    /// Sets a new user PIN and resets its retry counter (RESET RETRY COUNTER); the admin PIN must be verified.
    ///
    /// - Throws: `refusedPIN`, `badPINLength`, `pinRequired`.
    public func resetPIN(to new: borrowing Secret) throws(OpenPGPError) {
        let sent = try prepare(new, .user)
        do { try channel.send(ResetRetryCounter(sent)) } catch {
            throw try refusal(error, .user) ?? .administration(error)
        }
    }

    /// Sets a new user PIN and resets its retry counter with the reset code, which must have been set.
    ///
    /// - Throws: `wrongPIN` and `blocked`, of the reset code; `refusedPIN`.
    public func resetPIN(to new: borrowing Secret, code: borrowing Secret) throws(OpenPGPError) {
        let allowed = try prepare(code, .reset)
        let sent = try prepare(new, .user)
        do { try channel.send(ResetRetryCounter(code: allowed, sent)) } catch {
            if case .status(.incorrectParameters, _) = error { throw .blocked(.reset) }
            if let refusal = try refusal(error, .user) { throw refusal }
            throw try meaning(error, .reset)
        }
    }

    /// Sets the retry limits of user PIN, reset code and admin PIN (SET PIN RETRIES, YubiKeys from firmware 4.3.1 on);
    /// the admin PIN must be verified.
    ///
    /// - Throws: `unsupported`; `badInput` for counts other than 1 to 99.
    public func setRetries(user: Int, reset: Int, admin: Int) throws(OpenPGPError) {
        try checkSettingRetries()
        let counts = [user, reset, admin]
        guard counts.allSatisfy({ (1...99).contains($0) }) else { throw .badInput("1 to 99 tries can be set") }
        do { try channel.send(SetPINRetries(counts: counts.map { UInt8($0) })) } catch { throw .administration(error) }
    }

    /// Checks whether the card can set retry limits, before the admin PIN is verified.
    ///
    /// - Throws: `unsupported`.
    public func checkSettingRetries() throws(OpenPGPError) {
        guard try isYubiKey(since: FirmwareVersion(4, 3, 1)) else {
            throw .unsupported("setting the number of tries")
        }
    }

    /// Sets whether each signature requires the PIN again (PUT DATA C4); the admin PIN must be verified.
    public func setSignaturePolicy(needsPINForEach: Bool) throws(OpenPGPError) {
        do { try channel.send(PutData(tag: Tag.pinStatus, value: [needsPINForEach ? 0 : 1])) } catch {
            throw .administration(error)
        }
    }

    /// Returns the value to send for a PIN: its bytes, or their hash.
    func prepare(
        _ pin: borrowing Secret, _ reference: OpenPGPKDF.Reference, isNew: Bool = false
    ) throws(OpenPGPError) -> Secret {
        try checkLength(of: pin, reference, isNew: isNew)
        guard try cardFacts().status.supportsKDF, let derivation = try kdf() else { return pin.copy() }
        return derivation.derive(pin, reference)
    }

    /// Checks the length of a PIN or reset code, before another PIN is verified for it.
    ///
    /// - Throws: `badPINLength`.
    public func checkLength(
        of pin: borrowing Secret, _ reference: OpenPGPKDF.Reference, isNew: Bool = true
    ) throws(OpenPGPError) {
        let facts = try cardFacts()
        let limits = facts.status.pins.limits
        let (least, most) =
            switch reference {
            case .user: (6, limits.user)
            case .reset: (8, limits.reset)
            case .admin: (isNew ? 8 : facts.leastAdmin, limits.admin)
            }
        guard (least...max(least, most)).contains(pin.count) else {
            throw .badPINLength(reference, least: least, most: max(least, most))
        }
    }

    /// Returns the error for a card's answer to a PIN, including the number of retries. The card's counters show which
    /// PIN it compared: an admin PIN that does not exist yet is the user PIN (Gnuk).
    func meaning(_ error: CardError, _ reference: OpenPGPKDF.Reference) throws(OpenPGPError) -> OpenPGPError {
        guard case .status(let status, let command) = error else { return .card(error) }
        let before = counters
        let isOdd = status == .conditionsNotSatisfied && command == ChangePIN.name
        let isWrong =
            status == .securityStatusNotSatisfied || status.triesLeft != nil || status == StatusWord(0x6300) || isOdd
        let isBlocked = status == .authenticationBlocked
        guard isWrong || isBlocked else { return .card(error) }
        if isBlocked {
            guard reference == .admin else { return .blocked(reference) }
            guard try cardFacts().isGnuk else { return .blocked(reference) }
        }
        guard let after = try? pinStatus() else {
            return isBlocked ? .blocked(reference) : .wrongPIN(reference, triesLeft: status.triesLeft)
        }
        let left = after.left(reference)
        let hasMoved = before.map { $0.left(reference) != left } ?? true
        let user = after.retries.user
        if reference == .admin, left > 0, isBlocked || !hasMoved && user < before?.retries.user ?? 0 {
            return user == 0 || !isBlocked ? .userPINAdministers(triesLeft: user) : .blocked(.admin)
        }
        if isBlocked || left == 0 { return .blocked(reference) }
        if hasMoved { return .wrongPIN(reference, triesLeft: left) }
        return isOdd ? .card(error) : .wrongPIN(reference, triesLeft: nil)
    }

    /// Writes a data object; the admin PIN must be verified.
    func put(_ tag: TLV.Tag, _ value: [UInt8]) throws(OpenPGPError) {
        facts = nil
        do { try channel.send(PutData(tag: tag, value: value)) } catch { throw .administration(error) }
    }
}
