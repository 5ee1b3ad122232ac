// SPDX-License-Identifier: Apache-2.0

import YKCrypto
import YKWire

extension FIDOAuthenticator {
    /// clientPIN (CTAP 2.2 §6.5.5).
    mutating func clientPIN(_ fields: CBOR.Fields) throws(Refusal) -> CBOR? {
        let subcommand = try Self.read { () throws(WireError) in try fields.required(2, .unsigned) }
        switch subcommand {
        case 1: return [3: .int(Int64(memory.pinRetries)), 4: .bool(power.wrongPINs >= 3)]
        case 2:
            _ = try pinProtocol(fields)
            let point = try agreementKey().publicPoint
            let key = COSEKey(
                ec2: .p256, algorithm: .ecdhESHKDF256, x: Array(point.prefix(32)), y: Array(point.dropFirst(32)))
            return [1: .map(key.map)]
        case 3: try setPIN(fields)
        case 4: try changePIN(fields)
        case 5, 9: return try giveToken(fields, isLegacy: subcommand == 5)
        case 6, 7: throw .ctap(0x30)
        default: throw .ctap(0x3E)
        }
        return nil
    }

    private mutating func setPIN(_ fields: CBOR.Fields) throws(Refusal) {
        let shared = try sharedKey(fields)
        let (new, proof) = try Self.read { () throws(WireError) in
            (try fields.required(5, .bytes), try fields.required(4, .bytes))
        }
        guard constantTimeEqual(shared.authenticate(new), proof) else { throw .ctap(0x33) }
        guard memory.pinHash == nil else { throw .ctap(0x33) }
        try store(pin: try decrypt(new, shared))
    }

    private mutating func changePIN(_ fields: CBOR.Fields) throws(Refusal) {
        let shared = try sharedKey(fields)
        let (new, hash, proof) = try Self.read { () throws(WireError) in
            (try fields.required(5, .bytes), try fields.required(6, .bytes), try fields.required(4, .bytes))
        }
        guard constantTimeEqual(shared.authenticate(new + hash), proof) else { throw .ctap(0x33) }
        try check(pinHash: try decrypt(hash, shared))
        try store(pin: try decrypt(new, shared))
    }

    private mutating func giveToken(_ fields: CBOR.Fields, isLegacy: Bool) throws(Refusal) -> CBOR {
        let shared = try sharedKey(fields)
        let (hash, permissions, rpID) = try Self.read { () throws(WireError) in
            (try fields.required(6, .bytes), try fields.optional(9, .unsigned), try fields.optional(10, .text))
        }
        guard isLegacy == (permissions == nil), permissions != 0 else { throw .ctap(isLegacy ? 0x02 : 0x14) }
        if let permissions, permissions & ~0x37 != 0 { throw .ctap(0x40) }
        if let permissions, permissions & 0x03 != 0, rpID == nil { throw .ctap(0x14) }
        try check(pinHash: try decrypt(hash, shared))
        guard !memory.mustChangePIN else { throw .ctap(0x37) }
        let token = try world.draw(32)
        power.token = FIDOPower.Token(
            bytes: token, permissions: permissions ?? 0x03, rpID: rpID, isLegacy: isLegacy)
        return [2: .bytes(try encrypt(token, shared))]
    }

    /// Counts a try, then compares; three wrong ones in a row block until power is lost (CTAP 2.2 §6.5.5.7.2).
    private mutating func check(pinHash: [UInt8]) throws(Refusal) {
        guard let stored = memory.pinHash else { throw .ctap(0x35) }
        guard memory.pinRetries > 0 else { throw .ctap(0x32) }
        guard power.wrongPINs < 3 else { throw .ctap(0x34) }
        memory.pinRetries -= 1
        guard constantTimeEqual(stored, pinHash) else {
            power.agreementKey = nil
            power.wrongPINs += 1
            if memory.pinRetries == 0 { throw .ctap(0x32) }
            throw .ctap(power.wrongPINs >= 3 ? 0x34 : 0x31)
        }
        memory.pinRetries = FIDOMemory.allRetries
        power.wrongPINs = 0
    }

    private mutating func store(pin padded: [UInt8]) throws(Refusal) {
        guard padded.count == 64, padded.last == 0 else { throw .ctap(padded.count == 64 ? 0x37 : 0x02) }
        let pin = Array(padded.prefix(padded.count - padded.reversed().prefix { $0 == 0 }.count))
        let length = UInt64(pin.reduce(0) { $0 + ($1 & 0xC0 == 0x80 ? 0 : 1) })
        let hash = Array(HashAlgorithm.sha256.hash(pin).prefix(16))
        guard length >= memory.minPINLength, !(memory.mustChangePIN && hash == memory.pinHash) else {
            throw .ctap(0x37)
        }
        memory.pinHash = hash
        memory.pinLength = length
        memory.pinRetries = FIDOMemory.allRetries
        memory.mustChangePIN = false
        power.token = nil
    }
}

// MARK: - Key agreement

extension FIDOAuthenticator {
    mutating func agreementKey() throws(Refusal) -> P256KeyAgreement {
        for _ in 0..<4 {
            let scalar = if let key = power.agreementKey { key } else { try world.draw(32) }
            power.agreementKey = scalar
            if let key = try? P256KeyAgreement(scalar: Secret(scalar)) { return key }
            power.agreementKey = HashAlgorithm.sha256.hash(scalar)
        }
        throw .status(.memoryFailure)
    }

    func pinProtocol(_ fields: CBOR.Fields, at key: CBOR = 1) throws(Refusal) -> PINProtocol {
        let number = try Self.read { () throws(WireError) in try fields.required(key, .unsigned) }
        guard let version = PINProtocol(rawValue: number) else { throw .ctap(0x02) }
        return version
    }

    private mutating func sharedKey(_ fields: CBOR.Fields) throws(Refusal) -> PINSharedKey {
        let version = try pinProtocol(fields)
        let peer = try Self.read { () throws(WireError) in try fields.optionalFields(3) }
        guard let peer else { throw .ctap(0x14) }
        return try sharedKey(version, peer)
    }

    /// The secret in common with the platform whose key this is.
    mutating func sharedKey(_ version: PINProtocol, _ peer: CBOR.Fields) throws(Refusal) -> PINSharedKey {
        let key = try agreementKey()
        guard let cose = try? COSEKey(peer), case .ec2(.p256, let x, let y) = cose.material else { throw .ctap(0x02) }
        do { return try PINSharedKey(version, common: try key.shared(with: x + y)) } catch { throw .ctap(0x02) }
    }

    func decrypt(_ message: [UInt8], _ shared: borrowing PINSharedKey) throws(Refusal) -> [UInt8] {
        do { return try shared.decrypt(message) } catch { throw .ctap(0x02) }
    }

    func encrypt(_ message: [UInt8], _ shared: borrowing PINSharedKey) throws(Refusal) -> [UInt8] {
        let vector = try world.draw(shared.vectorSize)
        do { return try shared.encrypt(message, vector: vector) } catch { throw .ctap(0x7F) }
    }

    /// Checks a proof under the token, and that the token permits this for this relying party; a token without one
    /// is bound to it then (CTAP 2.2 §6.1.2, §6.2.2).
    mutating func check(
        proof: [UInt8], _ version: PINProtocol, over message: [UInt8], permission: UInt64, rpID: String? = nil
    ) throws(Refusal) {
        guard let token = power.token,
            constantTimeEqual(version.authenticate(message, key: Secret(token.bytes)), proof)
        else { throw .ctap(0x33) }
        let permits = token.permissions & permission != 0 || token.isLegacy && permission == 0x04
        guard permits else { throw .ctap(0x33) }
        guard let rpID else { return }
        if let bound = token.rpID, bound != rpID { throw .ctap(0x33) }
        if !token.isLegacy { power.token?.rpID = rpID }
    }

    /// A token permits one credential or assertion (CTAP 2.2 §6.5.2.1); writing large blobs stays permitted.
    mutating func tokenWasUsed() {
        guard power.token?.isLegacy == false else { return }
        power.token?.permissions &= 0x10
    }
}
