// SPDX-License-Identifier: Apache-2.0

import YKCrypto
import YKProtocols
import YKWire

extension FIDOAuthenticator {
    private typealias Key = CTAPProtocol.ClientPIN.Request
    private typealias Reply = CTAPProtocol.ClientPIN.Reply
    private typealias Subcommand = CTAPProtocol.ClientPIN.Subcommand

    /// clientPIN (CTAP 2.2 §6.5.5).
    mutating func clientPIN(_ fields: CBOR.Fields) throws(Refusal) -> CBOR? {
        let subcommand = try Self.read { () throws(WireError) in try fields.required(Key.subCommand, .unsigned) }
        if fields.map[Key.pinUvAuthProtocol] != nil { _ = try pinProtocol(fields) }
        switch Subcommand(rawValue: subcommand) {
        case .getPINRetries: return try pinRetries()
        case .getKeyAgreement:
            _ = try pinProtocol(fields)
            let point = try agreementKey().publicPoint
            let key = COSEKey(
                ec2: .p256, algorithm: .ecdhESHKDF256, x: Array(point.prefix(32)), y: Array(point.dropFirst(32)))
            return .map(CBOR.Map(keys: [Reply.keyAgreement: .map(key.map)]))
        case .setPIN: try setPIN(fields)
        case .changePIN: try changePIN(fields)
        case .getPinToken: return try giveToken(fields, isLegacy: true)
        case _ where ctap < .v21 && (6...9).contains(subcommand): throw .ctap(Status.invalidParameter)
        case .getPinUvAuthTokenUsingPinWithPermissions: return try giveToken(fields, isLegacy: false)
        case .getPinUvAuthTokenUsingUvWithPermissions:
            guard features.hasFingerprints else { throw .ctap(Status.notAllowed) }
            return try giveTokenByFinger(fields)
        case .getUVRetries:
            guard features.hasFingerprints else { throw .ctap(Status.notAllowed) }
            return .map(CBOR.Map(keys: [Reply.uvRetries: .int(Int64(memory.verificationsLeft))]))
        case nil: throw .ctap(Status.invalidSubcommand)
        }
        return nil
    }

    /// Answers getPINRetries (§6.5.5.2). A YubiKey without a PIN answers PIN_NOT_SET.
    private func pinRetries() throws(Refusal) -> CBOR {
        guard memory.pinHash != nil || profile.model.isCard else { throw .ctap(Status.pinNotSet) }
        guard ctap >= .v21 else { return .map(CBOR.Map(keys: [Reply.pinRetries: .int(Int64(memory.pinRetries))])) }
        return .map(
            CBOR.Map(keys: [
                Reply.pinRetries: .int(Int64(memory.pinRetries)), Reply.powerCycleState: .bool(power.wrongPINs >= 3),
            ]))
    }

    private mutating func setPIN(_ fields: CBOR.Fields) throws(Refusal) {
        let shared = try sharedKey(fields)
        let (new, proof) = try Self.read { () throws(WireError) in
            (try fields.required(Key.newPinEnc, .bytes), try fields.required(Key.pinUvAuthParam, .bytes))
        }
        guard constantTimeEqual(shared.authenticate(new), proof) else { throw .ctap(Status.pinAuthInvalid) }
        guard memory.pinHash == nil else { throw .ctap(Status.pinAuthInvalid) }
        try store(pin: try decrypt(new, shared))
    }

    private mutating func changePIN(_ fields: CBOR.Fields) throws(Refusal) {
        let shared = try sharedKey(fields)
        let (new, hash, proof) = try Self.read { () throws(WireError) in
            (
                try fields.required(Key.newPinEnc, .bytes), try fields.required(Key.pinHashEnc, .bytes),
                try fields.required(Key.pinUvAuthParam, .bytes)
            )
        }
        guard constantTimeEqual(shared.authenticate(new + hash), proof) else { throw .ctap(Status.pinAuthInvalid) }
        try check(pinHash: try decrypt(hash, shared))
        try store(pin: try decrypt(new, shared))
    }

    private mutating func giveToken(_ fields: CBOR.Fields, isLegacy: Bool) throws(Refusal) -> CBOR {
        let shared = try sharedKey(fields)
        let (hash, permissions, rpID) = try Self.read { () throws(WireError) in
            (
                try fields.required(Key.pinHashEnc, .bytes), try fields.optional(Key.permissions, .unsigned),
                try fields.optional(Key.rpId, .text)
            )
        }
        if isLegacy, permissions != nil || rpID != nil { throw .ctap(Status.invalidParameter) }
        if let permissions {
            guard permissions != 0 else { throw .ctap(Status.invalidParameter) }
            try checkPermissions(permissions, rpID, byFinger: false)
        } else if !isLegacy {
            throw .ctap(Status.missingParameter)
        } else if features.needsFingerprintForCeremonies {
            throw .ctap(Status.unauthorizedPermission)
        }
        try check(pinHash: try decrypt(hash, shared))
        // CTAP 2.0 platforms do not expect PIN_POLICY_VIOLATION from getPinToken.
        guard !memory.mustChangePIN else { throw .ctap(isLegacy ? Status.pinInvalid : Status.pinPolicyViolation) }
        if permissions == 0x40 {
            try memory.prepare(inputs, profile)
            return .map(CBOR.Map(keys: [Reply.pinUvAuthToken: .bytes(try encrypt(memory.persistentToken, shared))]))
        }
        let token = try inputs.draw(32)
        power.token = FIDOPower.Token(
            bytes: token, version: shared.version, permissions: permissions ?? 0x03, rpID: rpID, isLegacy: isLegacy)
        return .map(CBOR.Map(keys: [Reply.pinUvAuthToken: .bytes(try encrypt(token, shared))]))
    }

    /// Returns a token for a fingerprint verification (CTAP 2.2 §6.5.5.7.3).
    private mutating func giveTokenByFinger(_ fields: CBOR.Fields) throws(Refusal) -> CBOR {
        let shared = try sharedKey(fields)
        let (permissions, rpID) = try Self.read { () throws(WireError) in
            (try fields.required(Key.permissions, .unsigned), try fields.optional(Key.rpId, .text))
        }
        guard permissions != 0 else { throw .ctap(Status.invalidParameter) }
        try checkPermissions(permissions, rpID, byFinger: true)
        guard !memory.fingerprints.isEmpty else { throw .ctap(Status.notAllowed) }
        try verifyFinger(wrong: Status.uvInvalid, blocked: Status.uvBlocked)
        let token = try inputs.draw(32)
        power.token = FIDOPower.Token(
            bytes: token, version: shared.version, permissions: permissions, rpID: rpID, isPresent: true)
        return .map(CBOR.Map(keys: [Reply.pinUvAuthToken: .bytes(try encrypt(token, shared))]))
    }

    /// Checks that a token may have these permissions: the key supports them, the persistent token has no others, and a
    /// relying party is given where one is needed.
    private func checkPermissions(_ permissions: UInt64, _ rpID: String?, byFinger: Bool) throws(Refusal) {
        var allowed: UInt64 = byFinger ? 0x17 : 0x37
        if features.hasFingerprints, !byFinger { allowed |= 0x08 }
        if features.needsFingerprintForCeremonies, !byFinger { allowed &= ~0x03 }
        if ctap >= .v23 { allowed |= 0x40 }
        guard permissions & ~allowed == 0 else { throw .ctap(Status.unauthorizedPermission) }
        guard permissions & 0x40 == 0 || permissions == 0x40 && !byFinger else { throw .ctap(Status.invalidParameter) }
        if permissions & 0x03 != 0, rpID == nil { throw .ctap(Status.missingParameter) }
    }

    /// Uses up a retry, then compares. Three wrong PINs in a row block the PIN until power-off (CTAP 2.2 §6.5.5.7.2). A
    /// wrong PIN also ends the token, as on a YubiKey 5.7.4.
    private mutating func check(pinHash: [UInt8]) throws(Refusal) {
        guard let stored = memory.pinHash else { throw .ctap(Status.pinNotSet) }
        guard memory.pinRetries > 0 else { throw .ctap(Status.pinBlocked) }
        guard power.wrongPINs < 3 else { throw .ctap(Status.pinAuthBlocked) }
        memory.pinRetries -= 1
        guard constantTimeEqual(stored, pinHash) else {
            power.agreementKey = nil
            power.token = nil
            power.wrongPINs += 1
            if memory.pinRetries == 0 { throw .ctap(Status.pinBlocked) }
            throw .ctap(power.wrongPINs >= 3 ? Status.pinAuthBlocked : Status.pinInvalid)
        }
        memory.pinRetries = FIDOMemory.allRetries
        memory.verificationsLeft = FIDOMemory.allVerifications
        power.wrongPINs = 0
    }

    private mutating func store(pin padded: [UInt8]) throws(Refusal) {
        guard padded.count == 64, padded.last == 0 else {
            throw .ctap(padded.count == 64 ? Status.pinPolicyViolation : Status.invalidParameter)
        }
        let pin = Array(padded.prefix(padded.count - padded.reversed().prefix { $0 == 0 }.count))
        let length = UInt64(pin.reduce(0) { $0 + ($1 & 0xC0 == 0x80 ? 0 : 1) })
        let hash = Array(HashAlgorithm.sha256.hash(pin).prefix(16))
        guard length >= minPINLength, !(memory.mustChangePIN && hash == memory.pinHash),
            !(requiresComplexPIN && PINComplexity.isTrivial(pin))
        else { throw .ctap(Status.pinPolicyViolation) }
        memory.pinHash = hash
        memory.pinLength = length
        memory.pinRetries = FIDOMemory.allRetries
        memory.mustChangePIN = false
        memory.persistentToken = []
        power.token = nil
    }

    // MARK: - Key agreement

    mutating func agreementKey() throws(Refusal) -> P256KeyAgreement {
        for _ in 0..<4 {
            let scalar = if let key = power.agreementKey { key } else { try inputs.draw(32) }
            power.agreementKey = scalar
            if let key = try? P256KeyAgreement(scalar: Secret(scalar)) { return key }
            power.agreementKey = HashAlgorithm.sha256.hash(scalar)
        }
        throw .status(.memoryFailure)
    }

    func pinProtocol(_ fields: CBOR.Fields, at key: CBOR = Key.pinUvAuthProtocol.cbor) throws(Refusal) -> PINProtocol {
        let number = try Self.read { () throws(WireError) in try fields.required(key, .unsigned) }
        guard profile.pinProtocols.contains(number), let version = PINProtocol(rawValue: number) else {
            throw .ctap(Status.invalidParameter)
        }
        return version
    }

    private mutating func sharedKey(_ fields: CBOR.Fields) throws(Refusal) -> PINSharedKey {
        let version = try pinProtocol(fields)
        let peer = try Self.read { () throws(WireError) in try fields.optionalFields(Key.keyAgreement) }
        guard let peer else { throw .ctap(Status.missingParameter) }
        return try sharedKey(version, peer)
    }

    /// The secret shared with the platform that has this public key.
    mutating func sharedKey(_ version: PINProtocol, _ peer: CBOR.Fields) throws(Refusal) -> PINSharedKey {
        let key = try agreementKey()
        guard let cose = try? COSEKey(peer), case .ec2(.p256, let x, let y) = cose.material else {
            throw .ctap(Status.invalidParameter)
        }
        do { return try PINSharedKey(version, common: try key.shared(with: x + y)) } catch {
            throw .ctap(Status.invalidParameter)
        }
    }

    func decrypt(_ message: [UInt8], _ shared: borrowing PINSharedKey) throws(Refusal) -> [UInt8] {
        do { return try shared.decrypt(message) } catch { throw .ctap(Status.invalidParameter) }
    }

    func encrypt(_ message: [UInt8], _ shared: borrowing PINSharedKey) throws(Refusal) -> [UInt8] {
        let vector = try inputs.draw(shared.vectorSize)
        do { return try shared.encrypt(message, vector: vector) } catch { throw .ctap(Status.other) }
    }

    /// Checks a proof made with the token, and that the token permits this for this relying party. A token without a
    /// relying party is then bound to it (CTAP 2.2 §6.1.2, §6.2.2).
    mutating func check(
        proof: [UInt8], _ version: PINProtocol, over message: [UInt8], permission: UInt64, rpID: String? = nil
    ) throws(Refusal) {
        if ctap >= .v21, power.token?.isOver(overNFC: isOnReader) == true { power.token = nil }
        guard let token = power.token, token.version == version,
            constantTimeEqual(version.authenticate(message, key: Secret(token.bytes)), proof)
        else { throw .ctap(Status.pinAuthInvalid) }
        let isPreview = [
            CTAPProtocol.Command.credentialManagementPreview, CTAPProtocol.Command.bioEnrollmentPreview,
        ].contains(command)
        guard token.permissions & permission != 0 || token.isLegacy && isPreview else {
            throw .ctap(Status.pinAuthInvalid)
        }
        if let rpID, let bound = token.rpID, bound != rpID { throw .ctap(Status.pinAuthInvalid) }
        power.token?.isUsed = true
        if let rpID, isLimited(token) { power.token?.rpID = rpID }
    }

    /// Whether a token is for one relying party and one ceremony: those of CTAP 2.0 keys are not.
    private func isLimited(_ token: FIDOPower.Token) -> Bool { ctap >= .v21 || !token.isLegacy }

    /// Drops the token's permissions: it permits one credential or assertion (CTAP 2.2 §6.5.2.1). The permission to
    /// write large blobs remains.
    mutating func tokenWasUsed() {
        guard let token = power.token, isLimited(token) else { return }
        power.token?.permissions &= 0x10
        power.token?.isPresent = false
    }
}
