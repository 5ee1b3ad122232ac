// SPDX-License-Identifier: Apache-2.0

package import YKTransport
package import YKWire

/// The OTP application, independent of the transport: a command with a payload returns data, or nothing after a write.
extension VirtualKeyState {
    /// The status: version, programming sequence, touch level.
    package var otpStatus: OTPStatus {
        OTPStatus(version: profile.version, sequence: otp.sequence, touchLevel: otp.touchLevel)
    }

    /// Executes a command. A command that writes returns nothing; the status shows the result.
    package mutating func otp(
        _ command: OTPCommand, _ payload: [UInt8], _ inputs: VirtualInputs
    ) throws(Refusal) -> [UInt8] {
        switch command {
        case .configure1, .configure2: try configure(command == .configure1 ? 1 : 2, payload)
        case .update1, .update2: try update(command == .update1 ? 1 : 2, payload)
        case .swap: try swap()
        case .ndef1, .ndef2: try setNDEF(command == .ndef1 ? 1 : 2, payload)
        case .scanCodeMap: try setScanCodes(payload)
        case .challengeHMAC1, .challengeHMAC2:
            return try answer(command == .challengeHMAC1 ? 1 : 2, payload, .challengeHMAC, inputs)
        case .challengeOTP1, .challengeOTP2:
            return try answer(command == .challengeOTP1 ? 1 : 2, payload, .challengeOTP, inputs)
        case .fipsMode where profile.version.major == 4:
            return [otp.slots.allSatisfy { $0.map { !$0.accepts(OTPSlotRecord.noAccessCode) } ?? false } ? 1 : 0]
        case .serial:
            guard isSerialVisible else { return [] }
            var writer = ByteWriter(capacity: 4)
            writer.bigEndian(UInt64(profile.serial), 4)
            return writer.bytes
        default: return try manageOTP(command, payload)
        }
        return []
    }

    /// Whether commands return the serial number: if a slot allows it, or while both are empty.
    var isSerialVisible: Bool {
        let used = otp.slots.compactMap(\.self)
        return used.isEmpty || used.contains { $0.record.extended.contains(.serialByCommand) }
    }

    /// Executes a command that affects the whole key.
    private mutating func manageOTP(_ command: OTPCommand, _ payload: [UInt8]) throws(Refusal) -> [UInt8] {
        switch command {
        case .deviceInfo where profile.version >= FirmwareVersion(4, 1, 0):
            return managementPage(payload.first ?? 0) ?? []
        case .setDeviceInfo where profile.version.major >= 5:
            try writeManagement(Array(payload.prefix(1 + Int(payload.first ?? 0))))
        case .deviceMode:
            // Clients of the NEO send the mode alone (libykneomgr); an empty key's sequence stays 0.
            try setMode(Array((payload + [0, 0, 0]).prefix(4)))
            otp.count()
            return []
        default: throw .status(.commandNotAllowed)
        }
        otp.sequence &+= 1
        return []
    }

    /// The answer to a challenge, after a touch if the slot requires one.
    private mutating func answer(
        _ number: Int, _ challenge: [UInt8], _ kind: VirtualOTPSlot.Kind, _ inputs: VirtualInputs
    ) throws(Refusal) -> [UInt8] {
        guard profile.version >= FirmwareVersion(2, 2, 0), let slot = otp[number], slot.kind == kind else {
            throw .status(.conditionsNotSatisfied)
        }
        if slot.wantsTouch {
            try inputs.requireTouch(Array("OTP slot \(number)".utf8), orElse: .status(.conditionsNotSatisfied))
        }
        let filled = Array((challenge + [UInt8](repeating: 0, count: 64)).prefix(64))
        guard kind == .challengeOTP else { return slot.hmac(filled) }
        return try nextBlock(number, slot, Array(filled.prefix(6)), inputs)
    }

    /// The next encrypted block of a slot; the first one after power-on increments the session counter.
    mutating func nextBlock(
        _ number: Int, _ slot: VirtualOTPSlot, _ identity: [UInt8], _ inputs: VirtualInputs
    ) throws(Refusal) -> [UInt8] {
        let index = number == 1 ? 0 : 1
        let random = try inputs.draw(5)
        if otpPower.start == nil { otpPower.start = random[2...].reduce(0) { $0 << 8 | UInt32($1) } }
        let session = otpPower.uses[index] & 0xFF
        if session == 0 { otp[number]?.counter = min(0x7FFE, slot.counter) + 1 }
        otpPower.uses[index] += 1
        return slot.block(
            identity, uses: UInt16(truncatingIfNeeded: otp[number]?.counter ?? 0),
            time: otpPower.timestamp(at: .now), session: UInt8(session), random: Array(random[..<2]))
    }

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
