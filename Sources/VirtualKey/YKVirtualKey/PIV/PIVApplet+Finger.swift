// SPDX-License-Identifier: Apache-2.0

import YKCrypto
import YKProtocols
import YKWire

extension PIVApplet {
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
