// SPDX-License-Identifier: Apache-2.0

import YKWire

/// The output of a slot when touched: scan codes with delays between them.
package enum OTPStroke: Hashable, Sendable {
    /// A key, with Shift if bit 80 is set.
    case key(UInt8)
    /// Half a second.
    case delay
}

extension OTPMemory {
    /// The number of scan codes in a map: modhex in lower and upper case, digits, exclamation mark, Tab, Enter.
    static let scanCodeMapSize = 45
    private static let mapped = Array((Modhex.alphabet + Modhex.alphabet.uppercased() + "0123456789!\t\n").utf8)

    /// The scan code of a character of a token.
    func scanCode(_ character: UInt8, numericKeypad: Bool = false) -> UInt8? {
        guard let index = Self.mapped.firstIndex(of: character) else { return nil }
        if numericKeypad, (0x30...0x39).contains(character) {
            return character == 0x30 ? 0x62 : character - 0x31 + 0x59
        }
        if scanCodes.indices.contains(index) { return scanCodes[index] }
        return try? KeyboardLayout.us.scanCodes(String(decoding: [character], as: UTF8.self)).first
    }
}

extension VirtualKeyState {
    /// The fixed and the moving part of a slot's next token.
    private enum Token {
        case text(fixed: String, moving: String)
        case scanCodes([UInt8])
    }

    private mutating func token(_ number: Int, _ inputs: VirtualInputs) throws(Refusal) -> Token? {
        guard let slot = otp[number], !slot.isDormant else { return nil }
        let record = slot.record
        switch slot.kind {
        case .yubicoOTP:
            let block = try nextBlock(number, slot, record.identity, inputs)
            return .text(fixed: Modhex.encode(record.fixed), moving: Modhex.encode(block))
        case .staticTicket:
            let block = slot.block(record.identity, uses: 0, time: 0, session: 0, random: [0, 0])
            return .text(
                fixed: Modhex.encode(record.fixed), moving: Self.strong(Modhex.encode(block), record.configuration))
        case .scanCodes: return .scanCodes((record.fixed + record.identity + record.key).filter { $0 != 0 })
        case .hotp:
            let code = otp[number]?.hotpCode() ?? ""
            return .text(fixed: Self.identifier(record), moving: code)
        case .challengeOTP, .challengeHMAC: return nil
        }
    }

    /// A static token with the flags for strong passwords applied: half as long, the first letters in upper case, those
    /// of 0 to 7 as digits, and an exclamation mark in front.
    private static func strong(_ token: String, _ flags: OTPConfigurationFlags) -> String {
        var letters = Array(token.utf8.prefix(flags.contains(.shortTicket) ? 16 : 32))
        if flags.contains(.strongPassword2) {
            for index in letters.indices.prefix(8) {
                let value = Modhex.alphabet.utf8.enumerated().first { $0.element == letters[index] }?.offset ?? 15
                if value < 8 { letters[index] = 0x30 + UInt8(value) }
            }
        }
        if flags.contains(.strongPassword1) {
            for index in letters.indices.prefix(2) where letters[index] >= 0x61 { letters[index] -= 0x20 }
        }
        let isSpecial = flags.contains([.strongPassword1, .strongPassword2, .sendReference])
        return (isSpecial ? "!" : "") + String(decoding: letters, as: UTF8.self)
    }

    /// HOTP's token identifier: each byte in digits, or from the start in modhex.
    private static func identifier(_ record: OTPSlotRecord) -> String {
        let modhex: Int =
            switch (
                record.configuration.contains(.fixedModhex1), record.configuration.contains(.fixedModhex2)
            ) {
            case (true, true): record.fixed.count
            case (false, true): 2
            case (true, false): 1
            case (false, false): 0
            }
        return Modhex.encode(record.fixed.prefix(modhex)) + Hex.encode(record.fixed.dropFirst(modhex))
    }

    /// The keys typed when a slot is touched; empty for an empty slot, a dormant one, or one that answers challenges.
    package mutating func strokes(_ number: Int, _ inputs: VirtualInputs) throws(Refusal) -> [OTPStroke] {
        guard let token = try token(number, inputs), let record = otp[number]?.record else { return [] }
        let keypad = record.extended.contains(.numericKeypad)
        let flags = record.ticket
        func typed(_ text: String) -> [OTPStroke] {
            text.utf8.compactMap { otp.scanCode($0, numericKeypad: keypad) }.map(OTPStroke.key)
        }
        var strokes = flags.contains(.tabFirst) ? typed("\t") : []
        switch token {
        case .scanCodes(let codes): strokes += codes.map(OTPStroke.key)
        case .text(let fixed, let moving):
            let isReference =
                record.configuration.contains(.sendReference) && !record.configuration.contains(.staticTicket)
            strokes += typed((isReference ? Modhex.alphabet : "") + fixed)
            if flags.contains(.tabAfterFirst) { strokes += typed("\t") }
            if flags.contains(.delayAfterFirst) { strokes.append(.delay) }
            strokes += typed(moving)
        }
        if flags.contains(.tabAfterSecond) { strokes += typed("\t") }
        if flags.contains(.delayAfterSecond) { strokes.append(.delay) }
        return flags.contains(.enter) ? strokes + typed("\n") : strokes
    }

    /// The current NDEF record for NFC: its type, and its payload with the next token of the slot. If no slot was
    /// chosen, the payload is the factory default with the token of slot 1, if it generates any.
    package mutating func nextNDEF(_ inputs: VirtualInputs) throws(Refusal) -> (kind: UInt8, payload: [UInt8]) {
        let ndef = otp.ndef ?? .init(slot: 1, kind: 0x55, content: [0x04] + Array(ndef.utf8))
        switch try token(ndef.slot, inputs) {
        case .text(let fixed, let moving): return (ndef.kind, ndef.content + Array((fixed + moving).utf8))
        case .scanCodes(let codes): return (ndef.kind, ndef.content + codes)
        case nil: return (ndef.kind, ndef.content)
        }
    }
}
