// SPDX-License-Identifier: Apache-2.0

import YKCrypto
import YKProtocols
import YKWire

/// The Secrets application of a Nitrokey 3, version 4.14.0, after its documentation and source (trussed-secrets-app).
///
/// VERIFY PIN makes the key of the protected entries available to the next command only.
struct SecretsApplet: Applet {
    static let aid = AID.oath
    static var memory: (any AppletMemory.Type)? { SecretsMemory.self }
    static let tunnel: UInt8? = SecretsProtocol.vendorCommand

    typealias Instruction = SecretsProtocol.Instruction
    typealias Tag = SecretsProtocol.Tag

    /// Kinds of entries.
    enum Kind {
        static let hotp: UInt8 = 0x10
        static let totp: UInt8 = 0x20
        static let reverseHOTP: UInt8 = 0x30
        static let hmac: UInt8 = 0x40
        static let none: UInt8 = 0xF0
    }

    static let version: [UInt8] = [4, 14, 0]
    /// The maximum length of a name, a secret or a field, in bytes.
    static let fieldLimit = 128

    /// Whether the key of the protected entries is available.
    var isOpen = false
    /// Whether the previous command set or verified the PIN.
    var isAuthorized = false

    mutating func select(
        _ key: inout VirtualKeyState, _ inputs: VirtualInputs
    ) throws(Refusal) -> [UInt8] {
        (isOpen, isAuthorized) = (false, false)
        let serial = TLV(Tag.serial, Self.serial(key.profile))
        let version = TLV(Tag.version, Self.version)
        if key.secrets.salt.isEmpty { key.secrets.salt = try inputs.draw(8) }
        guard key.secrets.pin != nil else { return [version, TLV(Tag.name, key.secrets.salt), serial].encoded }
        return [version, TLV(Tag.pinRetries, [key.secrets.retries]), serial].encoded
    }

    static func serial(_ profile: DeviceProfile) -> [UInt8] {
        [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: profile.serial >> $0) }
    }

    mutating func process(
        _ command: APDU, _ key: inout VirtualKeyState, _ inputs: VirtualInputs
    ) throws(Refusal) -> [UInt8] {
        let (wasOpen, wasAuthorized) = (isOpen, isAuthorized)
        (isOpen, isAuthorized) = (false, false)
        let access = Access(isOpen: wasOpen, isAuthorized: wasAuthorized, inputs: inputs)
        if let reply = try yubiKeyReply(command, key) { return reply }
        switch (command.ins, command.parameters) {
        case (Instruction.put, 0): try put(command, &key.secrets, access)
        case (Instruction.delete, 0): try delete(command, &key.secrets, access)
        case (Instruction.reset, 0xDEAD):
            try access.touch([])
            key.secrets = SecretsMemory()
        case (Instruction.list, 0): return try list(command, key.secrets, access)
        case (Instruction.calculate, 1): return try calculate(command, &key.secrets, access)
        case (Instruction.verifyCode, 0): return try verifyCode(command, &key.secrets, access)
        case (Instruction.verifyPIN, 0): try verifyPIN(command, &key.secrets, access)
        case (Instruction.changePIN, 0): try changePIN(command, &key.secrets, access)
        case (Instruction.setPIN, 0): try setPIN(command, &key.secrets, access)
        case (Instruction.getCredential, 0): return try content(command, key.secrets, access)
        case (Instruction.updateCredential, 0): try update(command, &key.secrets, access)
        case (Instruction.sendRemaining, 0): throw .status(.conditionsNotSatisfied)
        default: throw .status(.unknownInstruction)
        }
        return []
    }

    /// What the previous command unlocked, and the source of touches.
    struct Access {
        let isOpen: Bool
        let isAuthorized: Bool
        let inputs: VirtualInputs

        func touch(_ name: [UInt8]) throws(Refusal) {
            try inputs.requireTouch(name, orElse: .status(.securityStatusNotSatisfied))
        }

        /// Waits for a touch if an entry requires one and is not protected by the PIN.
        func touch(for credential: SecretsMemory.Credential) throws(Refusal) {
            if credential.needsTouch, !credential.isProtected { try touch(credential.name) }
        }

        /// Returns the index of an entry that can be read now.
        func find(_ name: [UInt8], _ memory: SecretsMemory) throws(Refusal) -> Int {
            guard let index = memory.index(of: name), isOpen || !memory.credentials[index].isProtected else {
                throw .status(.notFound)
            }
            return index
        }
    }

    /// Answers commands of a YubiKey's OTP application, for KeePassXC; `nil` for other commands.
    private func yubiKeyReply(_ command: APDU, _ key: VirtualKeyState) throws(Refusal) -> [UInt8]? {
        let request = OTPCommand(rawValue: command.p1)
        switch (command.ins, request, command.p2) {
        case (OTPProtocol.Instruction.slot, .serial, 0): return Self.serial(key.profile)
        case (OTPProtocol.Instruction.status, OTPCommand(rawValue: 0), 0): return Self.version + [0x42, 0x42, 0x42]
        case (OTPProtocol.Instruction.slot, .challengeHMAC1, 0), (OTPProtocol.Instruction.slot, .challengeHMAC2, 0):
            let challenge = try Self.unpadded(command.data)
            let name = Array((request == .challengeHMAC1 ? "HmacSlot1" : "HmacSlot2").utf8)
            guard let index = key.secrets.index(of: name) else { throw .status(.notFound) }
            let credential = key.secrets.credentials[index]
            guard credential.kind == Kind.hmac else { throw .status(.incorrectParameters) }
            return HashAlgorithm.sha1.hmac(key: Secret(credential.secret), challenge)
        default: return nil
        }
    }

    /// Removes the padding of a challenge of 64 bytes (PKCS 7).
    private static func unpadded(_ data: [UInt8]) throws(Refusal) -> [UInt8] {
        let count = Int(data.last ?? 0)
        guard data.count == 64, (1..<64).contains(count), data.suffix(count).allSatisfy({ Int($0) == count }) else {
            throw .status(.incorrectParameters)
        }
        return Array(data.dropLast(count))
    }

    // MARK: - PIN

    private mutating func verifyPIN(
        _ command: APDU, _ memory: inout SecretsMemory, _ access: Access
    ) throws(Refusal) {
        let given = try OATHApplet.parse(command.data) { reader throws(WireError) in try reader.value(Tag.pin) }
        guard let pin = memory.pin else { throw .status(.securityStatusNotSatisfied) }
        try access.touch([])
        try Self.compare(given, pin, &memory)
        (isOpen, isAuthorized) = (true, true)
    }

    private mutating func setPIN(
        _ command: APDU, _ memory: inout SecretsMemory, _ access: Access
    ) throws(Refusal) {
        let given = try OATHApplet.parse(command.data) { reader throws(WireError) in try reader.value(Tag.pin) }
        guard memory.pin == nil else { throw .status(.securityStatusNotSatisfied) }
        try access.touch([])
        guard given.count <= Self.fieldLimit else { throw .status(.incorrectParameters) }
        (memory.pin, memory.retries) = (given, SecretsMemory.retryLimit)
        isAuthorized = true
    }

    private func changePIN(_ command: APDU, _ memory: inout SecretsMemory, _ access: Access) throws(Refusal) {
        let (old, new) = try OATHApplet.parse(command.data) { reader throws(WireError) in
            (try reader.value(Tag.pin), try reader.value(Tag.newPIN))
        }
        guard let pin = memory.pin else { throw .status(.securityStatusNotSatisfied) }
        try access.touch([])
        try Self.compare(old, pin, &memory)
        memory.pin = new
    }

    /// Compares a PIN; a wrong one uses up a try.
    private static func compare(_ given: [UInt8], _ pin: [UInt8], _ memory: inout SecretsMemory) throws(Refusal) {
        guard memory.retries > 0 else { throw .status(SecretsProtocol.verificationFailed) }
        guard constantTimeEqual(given, pin) else {
            memory.retries -= 1
            throw .status(SecretsProtocol.verificationFailed)
        }
        memory.retries = SecretsMemory.retryLimit
    }
}
