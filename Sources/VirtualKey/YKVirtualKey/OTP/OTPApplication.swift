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
            switch inputs.touch(Array("OTP slot \(number)".utf8)) {
            case .touched: break
            case .notTouched: throw .status(.conditionsNotSatisfied)
            case .pending: throw .waitingForTouch
            }
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
}
