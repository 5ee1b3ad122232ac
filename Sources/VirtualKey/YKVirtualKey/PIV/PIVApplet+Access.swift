// SPDX-License-Identifier: Apache-2.0

import YKCrypto
import YKProtocols
import YKTransport
import YKWire

extension PIVApplet {
    /// VERIFY (NIST SP 800-73-4 Part 2 §3.2.1): verifies a PIN, reports the retries left, or resets the verification.
    ///
    /// A YubiKey 5.7.4 answers every malformed command with 6A80, and checks the form before the retries.
    ///
    /// Before 4.3.2, a YubiKey does not report that the PIN is verified (yubico-piv-tool #77).
    mutating func verify(_ command: APDU, _ key: inout VirtualKeyState) throws(Refusal) {
        guard command.p2 == Self.pinReference else {
            throw .status(command.p2 == Self.fingerReference ? .referenceNotFound : .incorrectParameters)
        }
        if command.p1 == 0xFF, command.data.isEmpty {
            pin = .notGiven
            return
        }
        guard command.p1 == 0 else { throw .status(.incorrectParameters) }
        if command.data.isEmpty {
            if pin != .notGiven, key.profile.version >= FirmwareVersion(4, 3, 2) { return }
            throw Self.triesLeft(key.piv.pin)
        }
        pin = .notGiven
        try Self.check(command.data, &key.piv.pin)
        pin = .fresh
        key.fido.verificationsLeft = FIDOMemory.allVerifications
    }

    /// CHANGE REFERENCE DATA (NIST SP 800-73-4 Part 2 §3.2.2).
    mutating func changeReference(
        _ command: APDU, _ memory: inout PIVMemory, _ profile: DeviceProfile
    ) throws(Refusal) {
        guard [Self.pinReference, PIVProtocol.Reference.puk].contains(command.p2), command.p1 == 0 else {
            throw .status(.referenceNotFound)
        }
        guard command.data.count == 16 else { throw .status(.incorrectParameters) }
        let old = Array(command.data.prefix(8))
        let new = Array(command.data.suffix(8))
        let isPIN = command.p2 == Self.pinReference
        if isPIN { pin = .notGiven }
        let known = isPIN ? memory.pin : memory.puk
        guard known.left > 0 else { throw .status(.authenticationBlocked) }
        if isPIN { try Self.check(old, &memory.pin) } else { try Self.check(old, &memory.puk) }
        try Self.checkForm(new, profile)
        if isPIN { memory.pin.value = new } else { memory.puk.value = new }
    }

    /// RESET RETRY COUNTER (NIST SP 800-73-4 Part 2 §3.2.3).
    mutating func resetRetry(
        _ command: APDU, _ memory: inout PIVMemory, _ profile: DeviceProfile
    ) throws(Refusal) {
        guard command.p2 == Self.pinReference, command.p1 == 0 else { throw .status(.referenceNotFound) }
        guard command.data.count == 16 else { throw .status(.incorrectParameters) }
        let new = Array(command.data.suffix(8))
        pin = .notGiven
        // A new PIN that is refused leaves the PUK's tries as they were (NIST SP 800-73-5 Part 2 §3.2.3).
        var puk = memory.puk
        do { try Self.check(Array(command.data.prefix(8)), &puk) } catch {
            memory.puk = puk
            throw error
        }
        try Self.checkForm(new, profile)
        memory.puk = puk
        memory.pin.value = new
        memory.pin.left = memory.pin.total
    }

    /// SET RETRIES (Yubico): also resets PIN and PUK to the factory defaults.
    mutating func setRetries(_ command: APDU, _ memory: inout PIVMemory) throws(Refusal) {
        try requireManagement()
        guard pin != .notGiven else { throw .status(.securityStatusNotSatisfied) }
        guard command.p1 > 0, command.p2 > 0 else { throw .status(.incorrectParameters) }
        memory.pin = PIVMemory.Code(value: PIVMemory.defaultPIN, total: command.p1, left: command.p1)
        memory.puk = PIVMemory.Code(value: PIVMemory.defaultPUK, total: command.p2, left: command.p2)
        pin = .notGiven
    }

    /// Verifies a PIN or PUK; a wrong one uses up a retry.
    private static func check(_ value: [UInt8], _ code: inout PIVMemory.Code) throws(Refusal) {
        guard value.count == 8 else { throw .status(.incorrectParameters) }
        guard code.left > 0 else { throw .status(.authenticationBlocked) }
        guard constantTimeEqual(value, code.value) else {
            code.left -= 1
            throw .wrong(triesLeft: Int(code.left))
        }
        code.left = code.total
    }

    private static func triesLeft(_ code: PIVMemory.Code) -> Refusal {
        guard code.left > 0 else { return .status(.authenticationBlocked) }
        return .wrong(triesLeft: Int(code.left))
    }

    /// Checks a new PIN or PUK: six to eight bytes, with FF only as padding; 6985 if the complexity policy rejects it.
    private static func checkForm(_ value: [UInt8], _ profile: DeviceProfile) throws(Refusal) {
        let text = value.prefix { $0 != 0xFF }
        guard text.count >= 6, value[text.count...].allSatisfy({ $0 == 0xFF }) else {
            throw .status(.incorrectParameters)
        }
        let isRefused = profile.requiresComplexPIN && PINComplexity.isTrivial(Array(text))
        guard text.count >= profile.minPIVPINLength, !isRefused else { throw .status(.conditionsNotSatisfied) }
    }

    /// The size of a temporary PIN, in bytes.
    private static let temporaryPINSize = 16

    /// VERIFY with a fingerprint (YubiKey Bio): no data queries the state, 02 returns a temporary PIN, 03 only verifies
    /// the finger, 01 verifies the temporary PIN instead.
    mutating func verifyFinger(
        _ command: APDU, _ key: inout VirtualKeyState, _ inputs: VirtualInputs
    ) throws(Refusal) -> [UInt8] {
        guard command.p1 == 0 else { throw .status(StatusWord(0x6A86)) }
        guard !command.data.isEmpty else {
            guard finger == .notGiven else { return [] }
            throw Self.fingersLeft(key.fido)
        }
        let objects = try OATHApplet.parse(command.data) { reader throws(WireError) in try reader.tlvs() }
        guard objects.count == 1, let object = objects.first else { throw .status(.incorrectParameters) }
        finger = .notGiven
        switch (object.tag, object.value.count) {
        case (0x01, Self.temporaryPINSize):
            guard let pin = temporaryPIN, constantTimeEqual(pin, object.value) else {
                temporaryPIN = nil
                throw .wrong(triesLeft: 0)
            }
            finger = .fresh
            return []
        case (0x02, 0), (0x03, 0): break
        default: throw .status(.incorrectParameters)
        }
        try match(&key.fido, inputs)
        finger = .fresh
        guard object.tag == 0x02 else { return [] }
        let pin = try inputs.draw(Self.temporaryPINSize)
        temporaryPIN = pin
        return pin
    }

    /// Waits for a finger; a wrong one uses up a retry. Fails if no finger is enrolled.
    private mutating func match(_ memory: inout FIDOMemory, _ inputs: VirtualInputs) throws(Refusal) {
        guard !memory.fingerprints.isEmpty, memory.verificationsLeft > 0 else { throw Self.fingersLeft(memory) }
        switch inputs.verify() {
        case .verified: memory.verificationsLeft = FIDOMemory.allVerifications
        case .notTouched: throw .status(.securityStatusNotSatisfied)
        case .pending: throw .waitingForTouch
        case .wrong:
            memory.verificationsLeft -= 1
            throw .wrong(triesLeft: memory.verificationsLeft)
        }
    }

    private static func fingersLeft(_ memory: FIDOMemory) -> Refusal {
        guard memory.verificationsLeft > 0 else { return .status(.authenticationBlocked) }
        return .wrong(triesLeft: memory.verificationsLeft)
    }

    /// GET METADATA of the fingerprints: whether any are enrolled, retries left, whether there is a temporary PIN.
    func fingerMetadata(_ memory: FIDOMemory) -> [UInt8] {
        [
            TLV(MetadataTag.hasFingerprint, [memory.fingerprints.isEmpty ? 0 : 1]),
            TLV(MetadataTag.retries, [UInt8(memory.verificationsLeft)]),
            TLV(MetadataTag.hasTemporaryPIN, [temporaryPIN == nil ? 0 : 1]),
        ].encoded
    }
}
