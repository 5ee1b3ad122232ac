// SPDX-License-Identifier: Apache-2.0

import YKTransport
import YKWire

extension VirtualKeyState {
    private static let refused = Refusal.status(.conditionsNotSatisfied)

    /// The slot's access code: six bytes after the configuration.
    private static func code(_ payload: [UInt8], from start: Int) -> [UInt8] {
        let code = Array(payload.dropFirst(start).prefix(OTPSlotRecord.accessCodeSize))
        return code + [UInt8](repeating: 0, count: OTPSlotRecord.accessCodeSize - code.count)
    }

    /// Writes a slot; a configuration of zeros without a CRC deletes it.
    mutating func configure(_ number: Int, _ payload: [UInt8]) throws(Refusal) {
        guard payload.count >= OTPSlotRecord.size else { throw .status(.wrongLength) }
        let isAccepted = otp[number]?.accepts(Self.code(payload, from: OTPSlotRecord.size)) ?? true
        guard isAccepted, number == 1 || !protectsSlot2 else { throw Self.refused }
        let bytes = Array(payload.prefix(OTPSlotRecord.size))
        if bytes == OTPSlotRecord.empty {
            otp[number] = nil
        } else {
            guard let record = try? OTPSlotRecord(decoding: bytes) else { throw Self.refused }
            let isClaimed = number == 1 && otp[2]?.record.ticket.contains(.protectsSlot2) ?? false
            guard !isClaimed || !record.ticket.contains(.protectsSlot2) else { throw Self.refused }
            otp[number] = VirtualOTPSlot(record)
        }
        if otp.ndef?.slot == number { otp.ndef = nil }
        otpPower.uses[number == 1 ? 0 : 1] = 0
        otp.count()
    }

    /// Whether slot 1 protects slot 2 from being written, which it does not if slot 2 is in use and has the same flag.
    private var protectsSlot2: Bool {
        guard otp[1]?.record.ticket.contains(.protectsSlot2) ?? false else { return false }
        return !(otp[2]?.record.ticket.contains(.protectsSlot2) ?? false)
    }

    /// Updates settings. A challenge-response slot keeps the flags that have a different meaning there.
    mutating func update(_ number: Int, _ payload: [UInt8]) throws(Refusal) {
        guard profile.version >= FirmwareVersion(2, 3, 0), payload.count >= OTPSlotRecord.size else {
            throw .status(.wrongLength)
        }
        guard let slot = otp[number], !slot.record.extended.isDisjoint(with: [.allowsUpdate, .dormant]),
            slot.accepts(Self.code(payload, from: OTPSlotRecord.size)),
            let new = try? OTPSlotRecord(decoding: Array(payload.prefix(OTPSlotRecord.size)))
        else { throw Self.refused }
        let old = slot.record
        let flags: OTPConfigurationFlags =
            slot.isTyped
            ? old.configuration.subtracting(.updatable).union(new.configuration.intersection(.updatable))
            : old.configuration
        let record = try? OTPSlotRecord(
            fixed: old.fixed, identity: old.identity, key: old.key, accessCode: new.accessCode,
            extended: new.extended,
            ticket: old.ticket.subtracting(.updatable).union(new.ticket.intersection(.updatable)),
            configuration: flags)
        guard let record else { throw Self.refused }
        otp[number] = VirtualOTPSlot(record, counter: slot.counter)
        otp.count()
    }

    /// Swaps the slots; a slot with an access code, or whose settings cannot be updated, stays in place.
    mutating func swap() throws(Refusal) {
        let isOpen = otp.slots.compactMap(\.self).allSatisfy {
            $0.accepts(OTPSlotRecord.noAccessCode) && $0.record.extended.contains(.allowsUpdate)
        }
        guard profile.version >= FirmwareVersion(2, 3, 0), isOpen, otp.slots != [nil, nil] else { throw Self.refused }
        otp.slots.swapAt(0, 1)
        otpPower.uses.swapAt(0, 1)
        otp.count()
    }

    /// Writes the NDEF record that precedes a slot's token.
    mutating func setNDEF(_ number: Int, _ payload: [UInt8]) throws(Refusal) {
        guard profile.version >= FirmwareVersion(3, 0, 0), payload.count >= OTPNDEFRecord.size else {
            throw .status(.wrongLength)
        }
        let length = Int(payload[0])
        guard let slot = otp[number], slot.accepts(Self.code(payload, from: OTPNDEFRecord.size)),
            length <= OTPNDEFRecord.contentLimit, [0x54, 0x55].contains(payload[1])
        else { throw Self.refused }
        otp.ndef = .init(slot: number, kind: payload[1], content: Array(payload[2..<(2 + length)]))
        otp.count()
    }

    /// Writes the scan codes, or the usual ones if all are zero; an invalid map or a wrong access code for slot 1 is
    /// rejected.
    mutating func setScanCodes(_ payload: [UInt8]) throws(Refusal) {
        let codes = Array(payload.prefix(OTPMemory.scanCodeMapSize))
        let isUsual = codes.allSatisfy { $0 == 0 }
        guard profile.version >= FirmwareVersion(3, 0, 0), codes.count == OTPMemory.scanCodeMapSize,
            isUsual || Set(codes).count > 15,
            otp.slots.allSatisfy({ $0?.accepts(Self.code(payload, from: codes.count)) ?? true }),
            otp.slots != [nil, nil]
        else { throw Self.refused }
        otp.scanCodes = isUsual ? [] : codes
        otp.count()
    }
}
