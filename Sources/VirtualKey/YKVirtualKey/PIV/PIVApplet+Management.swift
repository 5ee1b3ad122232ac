// SPDX-License-Identifier: Apache-2.0

import YKCrypto
import YKProtocols
import YKTransport
import YKWire

extension PIVApplet {
    /// The length of a management key, by its algorithm.
    static let managementSizes: [UInt8: Int] = [0x03: 24, 0x08: 16, 0x0A: 24, 0x0C: 32]

    /// GENERAL AUTHENTICATE (NIST SP 800-73-4 Part 2 §3.2.4) with the management key or a private key.
    mutating func authenticate(
        _ command: APDU, _ key: inout VirtualKeyState, _ inputs: VirtualInputs
    ) throws(Refusal) -> [UInt8] {
        let template = try OATHApplet.parse(command.data) { reader throws(WireError) in
            try TLV.list(try reader.value(Tag.dynamic))
        }
        guard command.p2 == Self.managementSlot else {
            pending = nil
            return try use(command, template, key.piv, inputs)
        }
        let open = pending
        pending = nil
        let type = key.piv.managementAlgorithm(key.profile.version)
        guard command.p1 == type || command.p1 == 0 && type == 0x03 else { throw .status(.incorrectParameters) }
        let cipher: BlockCipher = type == 0x03 ? .tripleDES : .aes
        let reply = try answer(template, open, cipher, key.piv, inputs)
        return reply.isEmpty ? [] : TLV(Tag.dynamic, reply).encoded
    }

    /// A step of mutual authentication, or of the host's alone (NIST SP 800-73-4 Part 2 §A.1).
    private mutating func answer(
        _ template: [TLV], _ open: Pending?, _ cipher: BlockCipher, _ memory: PIVMemory, _ inputs: VirtualInputs
    ) throws(Refusal) -> [UInt8] {
        let secret = Secret(memory.managementKey)
        if template.value(Tag.witness) == [] {
            let block = try inputs.draw(cipher.blockSize)
            pending = .witness(block)
            return TLV(Tag.witness, try Self.crypt(block, cipher, secret)).encoded
        }
        if template.value(Tag.challenge) == [] {
            let block = try inputs.draw(cipher.blockSize)
            pending = .challenge(block)
            return TLV(Tag.challenge, block).encoded
        }
        isManaging = false
        switch open {
        case .witness(let block):
            guard let challenge = template.value(Tag.challenge), challenge.count == cipher.blockSize else {
                throw .status(.incorrectParameters)
            }
            try Self.compare(template.value(Tag.witness), block)
            if memory.managementTouch { try touch("PIV management key", inputs) }
            isManaging = true
            return TLV(Tag.response, try Self.crypt(challenge, cipher, secret)).encoded
        case .challenge(let block):
            try Self.compare(template.value(Tag.response), try Self.crypt(block, cipher, secret))
            if memory.managementTouch { try touch("PIV management key", inputs) }
            isManaging = true
            return []
        case nil: throw .status(.conditionsNotSatisfied)
        }
    }

    private static func compare(_ answer: [UInt8]?, _ wanted: [UInt8]) throws(Refusal) {
        guard let answer, constantTimeEqual(answer, wanted) else { throw .status(.securityStatusNotSatisfied) }
    }

    private static func crypt(
        _ block: [UInt8], _ cipher: BlockCipher, _ key: borrowing Secret
    ) throws(Refusal) -> [UInt8] {
        do { return try cipher.encrypt(block, key: key) } catch { throw .status(.memoryFailure) }
    }

    /// SET MANAGEMENT KEY (Yubico); AES from firmware 5.4 on.
    mutating func setManagementKey(
        _ command: APDU, _ key: inout VirtualKeyState, _ inputs: VirtualInputs
    ) throws(Refusal) {
        try requireManagement()
        guard command.p1 == 0xFF, command.p2 >= 0xFD else { throw .status(StatusWord(0x6A86)) }
        let (type, bytes) = try OATHApplet.parse(command.data) { reader throws(WireError) in
            (try reader.byte("the algorithm"), try reader.value(Tag.managementKey))
        }
        let isKnown =
            type == 0x03 ? !key.profile.isFIPS57 : key.profile.version >= FirmwareVersion(5, 4, 0)
        guard isKnown, Self.managementSizes[type] == bytes.count else { throw .status(.incorrectParameters) }
        key.piv.managementKey = bytes
        key.piv.managementType = type
        key.piv.managementTouch = command.p2 != 0xFF
    }
}
