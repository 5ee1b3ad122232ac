// SPDX-License-Identifier: Apache-2.0

public import YKCrypto
import YKProtocols
import YKTransport
import YKWire

extension OpenPGPService {
    /// Makes the card accept PINs as hashes (KDF-DO, §4.3.2), and sets both PINs.
    ///
    /// YubiKeys and Gnuk set the PINs from the object. Most other cards only store it, which the first change of the
    /// admin PIN shows: there the object is written first, since a hash can only be repeated with its salts, and the
    /// admin PIN is changed last. If that was interrupted, the admin PIN is the current one, hashed or as typed; both
    /// are tried, and an existing derivation is kept. A card that refuses a step before the PINs are set is brought back
    /// to what it was. The reset code is lost. Both PINs are verified afterwards.
    ///
    /// - Parameters:
    ///   - admin: The current admin PIN.
    ///   - count: The number of bytes that are hashed.
    /// - Throws: `unsupported`, `wrongPIN`, `blocked`; `badInput` if the card accepts a derivation only without keys;
    ///   `unfinished` if not everything could be set, nor undone.
    public func setUpKDF(
        admin: borrowing Secret, newUser: borrowing Secret, newAdmin: borrowing Secret,
        hash: HashAlgorithm = .sha256, count: Int = 0x78_0000
    ) throws(OpenPGPError) {
        let facts = try cardFacts()
        guard facts.status.supportsKDF else { throw .unsupported("a key derivation for PINs") }
        if facts.isGnuk, try status().keys.contains(where: { $0.fingerprint != nil }) {
            throw .badInput("this card accepts a key derivation only while it holds no key")
        }
        try checkLengths(newUser, newAdmin)
        let fresh = try newDerivation(hash, count)
        let current = try kdfToChange()
        let present = try verifiedForm(of: admin, current, facts)
        let known = facts.derivationSetsPINs ? nil : current
        let derivation = known ?? fresh
        let change = DerivationChange(
            present: present, form: SharedSecret(derivation.derive(admin, .admin)),
            user: SharedSecret(derivation.derive(newUser, .user)),
            last: SharedSecret(derivation.derive(newAdmin, .admin)),
            hasResetCode: facts.status.pins.retries.reset > 0)
        let object = derivation.encoded(user: change.user.value, admin: change.last.value)
        if known == nil { try store(object) }
        if !facts.derivationSetsPINs { try hashPINs(change, object: known == nil ? object : nil) }
        verified = []
        channel.resetsOnRelease = true
        // The card may refuse to repeat the salts now: these are known.
        var refused = try refusal(VerifyPIN(Password.user, change.user.value))
        if refused == nil { refused = try refusal(VerifyPIN(Password.admin, change.last.value)) }
        if let refused {
            throw .unfinished(OpenPGPStanding(isHashed: true, user: .unknown, admin: .unknown), refused)
        }
        verified = [.using, .administration]
    }

    /// Makes the card accept PINs unhashed again, and sets both. YubiKeys and Gnuk reset both PINs to their defaults,
    /// so these are changed afterwards, the user PIN of a Gnuk token only once it holds a key; on other cards the
    /// object is removed once both PINs are stored as typed, or before it, if the card refuses them as long as there is
    /// a derivation.
    ///
    /// - Throws: As ``setUpKDF(admin:newUser:newAdmin:hash:count:)``; `badInput` if no derivation is set up, and for a
    ///   user PIN other than 123456 on a Gnuk token.
    public func endKDF(
        admin: borrowing Secret, newUser: borrowing Secret, newAdmin: borrowing Secret
    ) throws(OpenPGPError) {
        let facts = try cardFacts()
        try checkLengths(newUser, newAdmin)
        guard facts.status.supportsKDF, let derivation = try kdfToChange() else {
            throw .badInput("no key derivation is set up")
        }
        let initial = (user: SharedSecret(Secret(utf8: "123456")), admin: SharedSecret(Secret(utf8: "12345678")))
        guard !facts.isGnuk || newUser == initial.user.value else {
            throw .badInput("this card has the user PIN 123456 until it holds a key")
        }
        let present = try verifiedForm(of: admin, derivation, facts)
        defer { verified = [] }
        guard facts.derivationSetsPINs else {
            let change = DerivationChange(
                present: present, form: SharedSecret(admin.copy()), user: SharedSecret(newUser.copy()),
                last: SharedSecret(newAdmin.copy()), hashedUser: SharedSecret(derivation.derive(newUser, .user)),
                hasResetCode: facts.status.pins.retries.reset > 0)
            return try unhashPINs(change)
        }
        try store(facts.isGnuk ? [] : OpenPGPKDF.off)
        if let refusal = try refusal(ChangePIN(Password.admin, from: initial.admin.value, to: newAdmin)) {
            // The only user PIN that a Gnuk token can have now is also the new one.
            let user: OpenPGPStanding.PIN = facts.isGnuk ? .new : .initial
            throw .unfinished(OpenPGPStanding(isHashed: false, user: user, admin: .initial), refusal)
        }
        guard !facts.isGnuk else { return }
        if let refusal = try refusal(ChangePIN(Password.signing, from: initial.user.value, to: newUser)) {
            throw .unfinished(OpenPGPStanding(isHashed: false, user: .initial, admin: .new), refusal)
        }
    }

    // MARK: cards that only store the object

    /// Stores both PINs as hashes, after the object with their salts was stored.
    ///
    /// - Parameter object: The object, if there was none before.
    private func hashPINs(_ change: DerivationChange, object: [UInt8]?) throws(OpenPGPError) {
        let standing = OpenPGPStanding(isHashed: true, user: .unusable, admin: .old)
        if let first = try refusal(ChangePIN(Password.admin, from: change.present.value, to: change.form.value)) {
            guard try refusal(VerifyPIN(Password.admin, change.present.value)) != nil else {
                return try withdraw(object, first, OpenPGPStanding(isHashed: true, user: .unusable, admin: .unusable))
            }
            // A card that sets the PINs by itself has the new one already.
            if try isRight(change.last) { return }
            throw .unfinished(OpenPGPStanding(isHashed: true, user: .unknown, admin: .unknown), first)
        }
        var refused = try refusal(VerifyPIN(Password.admin, change.form.value))
        if refused == nil { refused = try refusal(ResetRetryCounter(change.user.value)) }
        if let refused {
            // Only with the salts in the object can the hash be repeated: the PIN goes first. A card that takes nothing
            // but hashes as long as it has the object loses that first.
            guard try restore(change.present, from: change.form) else {
                guard let object, try refusal(PutData(tag: Tag.kdf, value: OpenPGPKDF.off)) == nil else {
                    throw .unfinished(standing, refused)
                }
                if try restore(change.present, from: change.form) { throw .administration(refused) }
                guard try refusal(PutData(tag: Tag.kdf, value: object)) == nil else {
                    throw .unfinished(OpenPGPStanding(isHashed: false, user: .old, admin: .unusable), refused)
                }
                throw .unfinished(standing, refused)
            }
            return try withdraw(object, refused, OpenPGPStanding(isHashed: true, user: .unusable, admin: .unusable))
        }
        try removeResetCode(change)
        try setAdminPIN(change, OpenPGPStanding(isHashed: true, user: .new, admin: .old))
    }

    /// Stores both PINs as typed, and removes the object.
    private func unhashPINs(_ change: DerivationChange) throws(OpenPGPError) {
        let object = try ask(Tag.kdf) { $0 }.value ?? []
        var isRemoved = false
        if !change.isUnhashed,
            let first = try refusal(ChangePIN(Password.admin, from: change.present.value, to: change.form.value))
        {
            // The card takes nothing but hashes as long as it has the object.
            guard try refusal(PutData(tag: Tag.kdf, value: OpenPGPKDF.off)) == nil else { throw .administration(first) }
            isRemoved = true
            guard try restore(change.form, from: change.present) else {
                guard try refusal(PutData(tag: Tag.kdf, value: object)) == nil else {
                    throw .unfinished(OpenPGPStanding(isHashed: false, user: .unusable, admin: .unusable), first)
                }
                throw .administration(first)
            }
        }
        var refused = try refusal(VerifyPIN(Password.admin, change.form.value))
        if refused == nil { refused = try refusal(ResetRetryCounter(change.user.value)) }
        if let refused {
            if isRemoved {
                throw .unfinished(OpenPGPStanding(isHashed: false, user: .unusable, admin: .old), refused)
            }
            if try restore(change.present, from: change.form) { throw .administration(refused) }
            throw .unfinished(OpenPGPStanding(isHashed: true, user: .old, admin: .unusable), refused)
        }
        try removeResetCode(change)
        if !isRemoved, let refused = try refusal(PutData(tag: Tag.kdf, value: OpenPGPKDF.off)) {
            var isHashedAgain = try restore(change.present, from: change.form)
            if isHashedAgain { isHashedAgain = try resetsUser(change) }
            throw .unfinished(
                OpenPGPStanding(
                    isHashed: true, user: isHashedAgain ? .new : .unusable, admin: isHashedAgain ? .old : .unusable),
                refused)
        }
        try setAdminPIN(change, OpenPGPStanding(isHashed: false, user: .new, admin: .old))
    }

    private func resetsUser(_ change: DerivationChange) throws(OpenPGPError) -> Bool {
        guard let hashed = change.hashedUser else { return false }
        return try refusal(ResetRetryCounter(hashed.value)) == nil
    }

    /// Removes the object again if it was new, and throws the refusal; if that is refused too, where the card stands.
    private func withdraw(
        _ object: [UInt8]?, _ refused: CardError, _ standing: OpenPGPStanding
    ) throws(OpenPGPError) {
        if object != nil, try refusal(PutData(tag: Tag.kdf, value: OpenPGPKDF.off)) != nil {
            throw .unfinished(standing, refused)
        }
        throw .administration(refused)
    }

    /// Changes the admin PIN to another form, and verifies it for the next step; returns whether it is changed.
    private func restore(_ form: SharedSecret, from other: SharedSecret) throws(OpenPGPError) -> Bool {
        guard try refusal(ChangePIN(Password.admin, from: other.value, to: form.value)) == nil else { return false }
        _ = try refusal(VerifyPIN(Password.admin, form.value))
        return true
    }

    private func setAdminPIN(_ change: DerivationChange, _ standing: OpenPGPStanding) throws(OpenPGPError) {
        guard !change.keepsAdmin,
            let refused = try refusal(ChangePIN(Password.admin, from: change.form.value, to: change.last.value))
        else { return }
        throw .unfinished(standing, refused)
    }

    /// Removes the reset code if there is one. A card that refuses that has one in a form that is no longer sent.
    private func removeResetCode(_ change: DerivationChange) throws(OpenPGPError) {
        if change.hasResetCode { _ = try refusal(PutData(tag: Tag.resettingCode, value: [])) }
    }

    // MARK: steps

    /// Writes the object as the first step.
    private func store(_ object: [UInt8]) throws(OpenPGPError) {
        facts = nil
        if let refused = try refusal(PutData(tag: Tag.kdf, value: object)) { throw .administration(refused) }
    }

    /// Sends a step; returns the card's refusal.
    ///
    /// - Throws: `unfinished` for any other failure.
    private func refusal<Command: CardCommand>(_ command: Command) throws(OpenPGPError) -> CardError? {
        do { _ = try channel.send(command) } catch {
            guard case .status = error else { throw .unfinished(.unknown, error) }
            return error
        }
        return nil
    }

    /// Whether this is the admin PIN; the last retry is not used for it.
    private func isRight(_ form: SharedSecret) throws(OpenPGPError) -> Bool {
        guard try pinStatus().retries.admin > 1 else { return false }
        return try refusal(VerifyPIN(Password.admin, form.value)) == nil
    }

    /// Verifies the admin PIN, and returns it in the form that the card accepted: hashed, or as typed if a set-up was
    /// interrupted. The second form is not tried with the last retry.
    private func verifiedForm(
        of admin: borrowing Secret, _ derivation: OpenPGPKDF?, _ facts: OpenPGPCardFacts
    ) throws(OpenPGPError) -> SharedSecret {
        try checkLength(of: admin, .admin, isNew: false)
        let form = SharedSecret(derivation.map { $0.derive(admin, .admin) } ?? admin.copy())
        channel.resetsOnRelease = true
        do throws(CardError) { try channel.send(VerifyPIN(Password.admin, form.value)) } catch {
            let failure = try meaning(error, .admin)
            guard case .wrongPIN = failure, !facts.derivationSetsPINs, derivation != nil,
                try pinStatus().retries.admin > 1
            else { throw failure }
            do { try channel.send(VerifyPIN(Password.admin, admin)) } catch { throw try meaning(error, .admin) }
            verified.insert(.administration)
            return SharedSecret(admin.copy())
        }
        verified.insert(.administration)
        return form
    }

    private func newDerivation(_ hash: HashAlgorithm, _ count: Int) throws(OpenPGPError) -> OpenPGPKDF {
        let salts: [[UInt8]]
        do {
            salts = try (0..<3).map { _ throws(LinkError) in
                try channel.environment.random.draw(8, secret: false)
            }
        } catch { throw .card(.link(error)) }
        do { return try OpenPGPKDF(hash, count: count, user: salts[0], reset: salts[1], admin: salts[2]) } catch {
            throw .badInput(error.description)
        }
    }

    private func checkLengths(_ user: borrowing Secret, _ admin: borrowing Secret) throws(OpenPGPError) {
        guard (6...127).contains(user.count) else { throw .badPINLength(.user, least: 6, most: 127) }
        guard (8...127).contains(admin.count) else { throw .badPINLength(.admin, least: 8, most: 127) }
    }
}

/// The PINs of a change, in the forms that are sent.
private struct DerivationChange {
    /// The admin PIN as the card has it.
    let present: SharedSecret
    /// The same PIN in the other form.
    let form: SharedSecret
    /// The new user PIN in the other form.
    let user: SharedSecret
    /// The new admin PIN in the other form.
    let last: SharedSecret
    /// The new user PIN as a hash, when a derivation ends.
    var hashedUser: SharedSecret?
    let hasResetCode: Bool

    /// Whether the card has the admin PIN in the other form already.
    var isUnhashed: Bool { present.value == form.value }
    /// Whether the admin PIN stays the same.
    var keepsAdmin: Bool { form.value == last.value }
}
