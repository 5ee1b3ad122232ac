// SPDX-License-Identifier: Apache-2.0

import YKCrypto
import YKProtocols
import YKWire

extension PIVApplet {
    /// GENERAL AUTHENTICATE with the private key of a slot (NIST SP 800-73-4 Part 2 §A.3 to A.5).
    mutating func use(
        _ command: APDU, _ template: [TLV], _ memory: PIVMemory, _ inputs: VirtualInputs
    ) throws(Refusal) -> [UInt8] {
        try Self.requireSlot(command.p2)
        // The attestation key signs statements only.
        guard command.p2 != Self.attestationSlot, let slot = memory.keys[command.p2] else {
            throw .status(.incorrectParameters)
        }
        guard command.p1 == slot.algorithm, template.value(Tag.response) == [] else {
            throw .status(.incorrectParameters)
        }
        try check(slot.pinPolicy)
        let isWarm = slot.touchPolicy == 3 && lastTouch.map { $0.duration(to: .now) < Self.touchCache } ?? false
        if slot.touchPolicy > 1, !isWarm { try touch("PIV \(Hex.encode([command.p2]))", inputs) }
        if pin == .fresh { pin = .used }
        if finger == .fresh { finger = .used }
        let result: [UInt8]
        do { result = try Self.result(slot, try slot.privateKey(), template) } catch {
            throw .status(.incorrectParameters)
        }
        return TLV(Tag.dynamic, TLV(Tag.response, result).encoded).encoded
    }

    /// How long a touch is cached with the policy "cached".
    private static let touchCache = Duration.seconds(15)

    private func check(_ policy: UInt8) throws(Refusal) {
        let isSatisfied =
            switch policy {
            case 1: true
            case 2: pin != .notGiven
            case 4: pin != .notGiven || finger != .notGiven
            case 5: pin == .fresh || finger == .fresh
            default: pin == .fresh
            }
        guard isSatisfied else { throw .status(.securityStatusNotSatisfied) }
    }

    private static func result(
        _ slot: VirtualPIVKey, _ key: PrivateKey, _ template: [TLV]
    ) throws -> [UInt8] {
        let challenge = template.value(Tag.challenge)
        let point = template.value(Tag.exponentiation)
        switch (key.publicKey, challenge, point) {
        case (.rsa(let modulus, _), .some(let block), nil) where block.count == modulus.count:
            return try key.rsaPrivate(block)
        case (.ec(let curve, _), .some(let digest), nil) where digest.count <= curve.fieldSize:
            return try key.sign(digest: digest)
        case (.ec(let curve, _), nil, .some(let point)):
            return try key.shared(with: .ec(curve, point: point)).value.copyBytes()
        case (.ed25519, .some(let message), nil): return try key.sign(message, .sha512)
        case (.x25519, nil, .some(let point)) where point.count == 32:
            return try key.shared(with: .x25519(point)).value.copyBytes()
        default: throw Refusal.status(.incorrectParameters)
        }
    }
}
