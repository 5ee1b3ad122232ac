// SPDX-License-Identifier: Apache-2.0

import YKCrypto
import YKProtocols
import YKTransport
import YKWire

extension FIDOAuthenticator {
    /// Answers a command of the raw message formats, or a vendor command of the YubiKey 4 FIPS.
    mutating func u2f(_ command: APDU) throws(Refusal) -> [UInt8] {
        let hasPIN = profile.version.major == 4 && profile.isFIPS
        switch command.ins {
        case FIDOProtocol.Instruction.register: return try u2fRegister(command.data)
        case FIDOProtocol.Instruction.authenticate: return try u2fAuthenticate(command.p1, command.data)
        case FIDOProtocol.Instruction.version: return Array("U2F_V2".utf8)
        case FIDOProtocol.Instruction.fipsVerifyPIN where hasPIN: try verifyU2FPIN(command.data)
        case FIDOProtocol.Instruction.fipsSetPIN where hasPIN: try changeU2FPIN(command.data)
        case FIDOProtocol.Instruction.fipsReset where hasPIN: try resetU2F()
        case FIDOProtocol.Instruction.fipsMode where hasPIN:
            guard memory.isInU2FFIPSMode else { throw .status(.functionNotSupported) }
        default: throw .status(.unknownInstruction)
        }
        return []
    }

    /// REGISTER (FIDO U2F Raw Message Formats 1.2 §4).
    mutating func u2fRegister(_ data: [UInt8]) throws(Refusal) -> [UInt8] {
        guard data.count == 64 else { throw .status(.wrongLength) }
        guard !memory.alwaysUV else { throw .status(.commandNotAllowed) }
        guard memory.u2fPIN == nil || power.hasU2FPIN else { throw .status(.securityStatusNotSatisfied) }
        try u2fTouch()
        try memory.prepare(inputs, profile)
        let (challenge, application) = (Array(data.prefix(32)), Array(data.suffix(32)))
        let credential = CredentialVault(seed: memory.seed).make(
            try inputs.draw(32), rpIDHash: application, algorithm: .es256, protection: 1)
        guard let point = try credential.publicKey().uncompressedPoint else { throw .status(.aborted) }
        let signature = try attest([0x00] + application + challenge + credential.id + point)
        let handle = [UInt8(truncatingIfNeeded: credential.id.count)] + credential.id
        return [0x05] + point + handle + memory.certificate + signature
    }

    /// AUTHENTICATE (§5).
    mutating func u2fAuthenticate(_ control: UInt8, _ data: [UInt8]) throws(Refusal) -> [UInt8] {
        guard data.count >= 65, data.count == 65 + Int(data[64]) else { throw .status(.wrongLength) }
        guard !memory.alwaysUV else { throw .status(.commandNotAllowed) }
        let (challenge, application) = (Array(data.prefix(32)), Array(data[32..<64]))
        guard !memory.seed.isEmpty, let credential = find(Array(data.dropFirst(65)), application),
            credential.algorithm == .es256, credential.protection < 3
        else { throw .status(.incorrectParameters) }
        switch control {
        case FIDOProtocol.Control.enforcePresence: try u2fTouch()
        case FIDOProtocol.Control.checkOnly: throw .status(.conditionsNotSatisfied)
        case FIDOProtocol.Control.noPresence: break
        default: throw .status(.wrongParameters)
        }
        var writer = ByteWriter(capacity: 5)
        writer.byte(control == FIDOProtocol.Control.enforcePresence ? 1 : 0)
        writer.bigEndian(UInt64(nextCount()), 4)
        let signature: [UInt8]
        do { signature = try credential.signingKey().sign(application + writer.bytes + challenge) } catch {
            throw .status(.aborted)
        }
        return writer.bytes + signature
    }

    /// U2F never waits: without a touch it answers 6985, and the host asks again.
    func u2fTouch() throws(Refusal) {
        guard profile.model.isCard || inputs.touch(Array("U2F".utf8)) == .touched else {
            throw .status(.conditionsNotSatisfied)
        }
    }
}

/// The U2F PIN of a YubiKey 4 FIPS, which registration requires once after each power-on.
extension FIDOAuthenticator {
    /// VERIFY PIN (43).
    mutating func verifyU2FPIN(_ pin: [UInt8]) throws(Refusal) {
        guard memory.u2fPIN != nil else { throw .status(.commandNotAllowed) }
        power.hasU2FPIN = false
        try check(u2fPIN: pin)
        power.hasU2FPIN = true
    }

    /// SET PIN (44): the length of the new PIN in one byte, the old PIN if there is one, the new PIN. Without the old PIN
    /// it costs no retry (ykman 5.9.2).
    mutating func changeU2FPIN(_ data: [UInt8]) throws(Refusal) {
        guard let length = data.first.map(Int.init), data.count > length else { throw .status(.wrongLength) }
        let old = Array(data.dropFirst().dropLast(length))
        guard FIDOMemory.u2fPINLengths.contains(length) else { throw .status(.wrongLength) }
        if memory.u2fPIN == nil {
            guard old.isEmpty else { throw .status(.commandNotAllowed) }
        } else {
            guard !old.isEmpty else { throw .status(.wrongLength) }
            try check(u2fPIN: old)
        }
        memory.u2fPIN = Array(data.suffix(length))
        power.hasU2FPIN = false
    }

    /// RESET (45): shortly after power-on, with a touch. The key leaves its FIPS mode permanently.
    mutating func resetU2F() throws(Refusal) {
        let window = features.resetWindow ?? 10
        guard power.since.duration(to: .now) <= .seconds(window) else { throw .status(.commandNotAllowed) }
        try u2fTouch()
        memory = memory.afterReset
        memory.hasLeftFIPSMode = true
        power = FIDOPower()
    }

    private mutating func check(u2fPIN pin: [UInt8]) throws(Refusal) {
        guard memory.u2fRetries > 0 else { throw .status(.authenticationBlocked) }
        guard let stored = memory.u2fPIN, constantTimeEqual(stored, pin) else {
            memory.u2fRetries -= 1
            throw .status(memory.u2fRetries == 0 ? .authenticationBlocked : StatusWord(0x63C0))
        }
        memory.u2fRetries = FIDOMemory.allU2FRetries
    }
}
