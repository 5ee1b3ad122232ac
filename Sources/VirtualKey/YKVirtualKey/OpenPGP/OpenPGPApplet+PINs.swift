// SPDX-License-Identifier: Apache-2.0

import YKCrypto
import YKProtocols
import YKTransport
import YKWire

extension OpenPGPApplet {
    private typealias Value = OpenPGPProtocol.KDFValue

    private static let leastUser = 6
    private static let leastAdmin = 8

    /// VERIFY (§7.2.2): with a PIN, without one to query the state, and with P1 FF to reset it.
    mutating func verify(_ command: APDU, _ key: inout VirtualKeyState) throws(Refusal) {
        let isPlain = key.profile.isPlainOpenPGP
        let ends = command.p1 == 0xFF && (isPlain || key.profile.version >= FirmwareVersion(5, 6, 0))
        guard command.p1 == 0 || ends, (Password.signing...Password.admin).contains(command.p2) else {
            throw .status(Self.wrongParameters(key.profile))
        }
        if ends {
            guard command.data.isEmpty else { throw .status(.incorrectParameters) }
            verified.remove(command.p2)
            return
        }
        let place = Self.place(command.p2, key)
        let code = key.openPGP[keyPath: place]
        guard !command.data.isEmpty else {
            // YubiKeys 5.4.3 (OpenSC #2565) do not report the state; later ones do, and support P1 FF.
            guard isPlain || key.profile.version >= FirmwareVersion(5, 6, 0) else {
                throw .status(.incorrectParameters)
            }
            guard !verified.contains(command.p2) else { return }
            throw .wrong(triesLeft: Int(code.left))
        }
        guard (place == \.admin ? Self.leastAdmin : Self.leastUser)...OpenPGPMemory.pinLimit ~= command.data.count
        else {
            throw .status(isPlain ? .wrongLength : .incorrectParameters)
        }
        verified.remove(command.p2)
        try compare(command.data, place, &key)
        verified.insert(command.p2)
    }

    /// The PIN for a reference. On a Gnuk token that holds a key, the user PIN takes the place of the admin PIN until
    /// one is set; here, that means until it differs from a new card's.
    private static func place(
        _ reference: UInt8, _ key: VirtualKeyState
    ) -> WritableKeyPath<OpenPGPMemory, OpenPGPMemory.Code> {
        guard reference == Password.admin else { return \.user }
        let isUnset =
            key.profile.isGnuk && key.openPGP.holdsKey && key.openPGP.admin.value == OpenPGPMemory.defaultAdmin
        return isUnset ? \.user : \.admin
    }

    /// CHANGE REFERENCE DATA (§7.2.3): the old PIN, then the new one, without a separator.
    mutating func changeReference(_ command: APDU, _ key: inout VirtualKeyState) throws(Refusal) {
        guard command.p1 == 0, command.p2 == Password.signing || command.p2 == Password.admin else {
            throw .status(Self.wrongParameters(key.profile))
        }
        let isAdmin = command.p2 == Password.admin
        guard isAdmin || !key.profile.isGnuk || key.openPGP.holdsKey else { throw .status(.conditionsNotSatisfied) }
        let place = Self.place(command.p2, key)
        let length = key.openPGP[keyPath: place].value.count
        try compare(Array(command.data.prefix(length)), place, &key)
        let new = Array(command.data.dropFirst(length))
        try Self.checkForm(new, least: isAdmin ? Self.leastAdmin : Self.leastUser, key)
        if isAdmin { key.openPGP.admin.value = new } else { key.openPGP.user.value = new }
        // Gnuk: the user PIN that acts as the admin PIN is another one now.
        if key.profile.isGnuk, !isAdmin, key.openPGP.admin.value == OpenPGPMemory.defaultAdmin {
            verified.remove(Password.admin)
        }
        if !key.profile.isPlainOpenPGP { verified.insert(command.p2) }
    }

    /// RESET RETRY COUNTER (§7.2.4): sets a new user PIN with the reset code or the admin PIN.
    mutating func resetRetry(_ command: APDU, _ key: inout VirtualKeyState) throws(Refusal) {
        guard command.p1 == 0 || command.p1 == 2, command.p2 == Password.signing else {
            throw .status(Self.wrongParameters(key.profile))
        }
        var new = command.data
        if command.p1 == 2 {
            try requireAdmin()
        } else {
            let length = key.openPGP.reset.value.count
            guard length > 0 else {
                throw .status(key.profile.isPlainOpenPGP ? .securityStatusNotSatisfied : .incorrectParameters)
            }
            try compare(Array(command.data.prefix(length)), \.reset, &key)
            new.removeFirst(length)
        }
        try Self.checkForm(new, least: Self.leastUser, key)
        key.openPGP.user.value = new
        key.openPGP.user.left = key.openPGP.user.total
        verified.subtract([Password.signing, Password.user])
    }

    /// PUT DATA D3 (§4.3.4): sets the reset code; an empty one removes it.
    func putResetCode(_ code: [UInt8], _ key: inout VirtualKeyState) throws(Refusal) {
        if code.isEmpty, key.profile.isPlainOpenPGP {
            key.openPGP.reset.value = []
            key.openPGP.reset.left = 0
            return
        }
        try Self.checkForm(code, least: Self.leastAdmin, key)
        key.openPGP.reset.value = code
        key.openPGP.reset.left = key.openPGP.reset.total
    }

    /// SET PIN RETRIES (Yubico): sets the retries of user PIN, reset code and admin PIN without changing them. 0 for
    /// the reset code leaves its number unchanged: ykman's device tests send that to a key without one.
    func setRetries(_ command: APDU, _ key: inout VirtualKeyState) throws(Refusal) {
        guard command.p1 == 0, command.p2 == 0 else { throw .status(Self.wrongParameters(key.profile)) }
        try requireAdmin()
        let places = [\OpenPGPMemory.user, \.reset, \.admin]
        guard command.data.count == places.count,
            zip(places, command.data).allSatisfy({ (1...99).contains($1) || $1 == 0 && $0 == \.reset })
        else { throw .status(.incorrectParameters) }
        for (place, count) in zip(places, command.data) where count > 0 {
            key.openPGP[keyPath: place].total = count
            key.openPGP[keyPath: place].left = key.openPGP[keyPath: place].value.isEmpty ? 0 : count
        }
    }

    /// Verifies a PIN or the reset code; a wrong one uses up a retry.
    private mutating func compare(
        _ given: [UInt8], _ place: WritableKeyPath<OpenPGPMemory, OpenPGPMemory.Code>, _ key: inout VirtualKeyState
    ) throws(Refusal) {
        var code = key.openPGP[keyPath: place]
        defer { key.openPGP[keyPath: place] = code }
        guard code.left > 0 else { throw .status(.authenticationBlocked) }
        guard constantTimeEqual(given, code.value) else {
            code.left -= 1
            let tellsTries = key.profile.isPlainOpenPGP && !key.profile.isGnuk && place != \.reset
            guard tellsTries else { throw .status(.securityStatusNotSatisfied) }
            throw .wrong(triesLeft: Int(code.left))
        }
        code.left = code.total
    }

    /// Keys of the FIPS series with firmware 5.7 require eight characters that are not trivial, unless a KDF hashes the
    /// PINs.
    private static func checkForm(_ value: [UInt8], least: Int, _ key: VirtualKeyState) throws(Refusal) {
        guard (least...OpenPGPMemory.pinLimit).contains(value.count) else { throw .status(.incorrectParameters) }
        guard key.profile.requiresComplexPIN, key.openPGP.kdf.isEmpty else { return }
        guard value.count >= leastAdmin, !PINComplexity.isTrivial(value) else {
            throw .status(.conditionsNotSatisfied)
        }
    }

    /// PUT DATA F9 (§4.3.2). A YubiKey sets the PINs to those in the object, or to the factory defaults when the KDF is
    /// disabled, and removes the reset code; so does a Gnuk token that holds no key. Other cards store the object and
    /// leave the rest to the host.
    func putKDF(_ value: [UInt8], _ key: inout VirtualKeyState) throws(Refusal) {
        guard value.count <= 0xFF, let objects = try? TLV.list(value) else { throw .status(.incorrectParameters) }
        let isGnuk = key.profile.isGnuk
        guard !key.profile.isPlainOpenPGP || isGnuk else {
            key.openPGP.kdf = value
            return
        }
        guard !isGnuk || !key.openPGP.holdsKey else { throw .status(.conditionsNotSatisfied) }
        guard !isGnuk || [0, 90, 110].contains(value.count) else { throw .status(.incorrectParameters) }
        switch isGnuk && value.isEmpty ? [Value.none] : objects.value(KDFTag.algorithm) {
        case [Value.none]? where objects.count == (isGnuk ? 0 : 1):
            key.openPGP.kdf = []
            key.openPGP.user.value = OpenPGPMemory.defaultUser
            key.openPGP.admin.value = OpenPGPMemory.defaultAdmin
        case [Value.iteratedSalted]?:
            guard
                let size = ([[Value.sha256]: 32, [Value.sha512]: 64] as [[UInt8]: Int])[
                    objects.value(KDFTag.hash) ?? []],
                objects.value(KDFTag.count)?.count == 4, objects.value(KDFTag.userSalt)?.count == 8,
                let user = objects.value(KDFTag.userHash), let admin = objects.value(KDFTag.adminHash),
                user.count == size,
                admin.count == size,
                [KDFTag.resetSalt, KDFTag.adminSalt].allSatisfy({ objects.value($0).map { $0.count == 8 } ?? true })
            else { throw .status(.incorrectParameters) }
            key.openPGP.kdf = value
            key.openPGP.user.value = user
            key.openPGP.admin.value = admin
        default: throw .status(.incorrectParameters)
        }
        key.openPGP.user.left = key.openPGP.user.total
        key.openPGP.admin.left = key.openPGP.admin.total
        key.openPGP.reset.value = []
        key.openPGP.reset.left = 0
    }
}
