// SPDX-License-Identifier: Apache-2.0

import YKCrypto
import YKTransport
package import YKWire

/// The persistent state of the OTP application.
package struct OTPMemory: Hashable, Sendable {
    /// Slots 1 and 2; `nil` for an empty one.
    package var slots: [VirtualOTPSlot?] = [nil, nil]
    /// The programming sequence; 0 when both slots are empty.
    package var sequence: UInt8 = 0
    /// The NDEF record that was written, and its slot number.
    package var ndef: NDEF?
    /// The scan codes for typing tokens, if they differ from the default.
    package var scanCodes: [UInt8] = []

    /// An NDEF record that was written for a slot.
    package struct NDEF: Hashable, Sendable {
        /// 1 or 2.
        package var slot: Int
        /// The type of the record: 54 text, 55 URI.
        package var kind: UInt8
        /// The content before the token.
        package var content: [UInt8]
    }

    package init() {}

    /// The slot of this number, 1 or 2.
    subscript(_ number: Int) -> VirtualOTPSlot? {
        get { slots[number == 1 ? 0 : 1] }
        set { slots[number == 1 ? 0 : 1] = newValue }
    }

    /// Records that a slot was written.
    mutating func count() {
        if slots == [nil, nil] { sequence = 0 } else { sequence = sequence == .max ? 1 : sequence + 1 }
    }

    /// Bits 0 and 1: in use; 2 and 3: types when touched; 4: the LED is off when idle.
    var touchLevel: UInt16 {
        var level: UInt16 = 0
        for (index, slot) in slots.enumerated() {
            guard let slot else { continue }
            level |= 0x01 << UInt16(index)
            if slot.isTyped { level |= 0x04 << UInt16(index) }
            if slot.record.extended.contains(.invertedLight) { level |= 0x10 }
        }
        return level
    }
}

/// The OTP application's state that is lost on power-off; ignored when comparing states.
package struct OTPPower: PowerState {
    /// The number of Yubico OTPs that each slot has generated.
    var uses: [UInt64] = [0, 0]
    /// The time of power-on, and the timestamp at that time.
    var since = ContinuousClock.now
    var start: UInt32?

    /// The 24-bit timestamp: eighths of a second from a random start.
    func timestamp(at now: ContinuousClock.Instant) -> UInt32 {
        let eighths = UInt32(clamping: Int64(since.duration(to: now) / .milliseconds(125)))
        return (start ?? 0) &+ eighths & 0xFF_FFFF
    }
}

extension OTPMemory: StateRecord {
    package mutating func visit(_ fields: inout StateFields) throws(StateFields.Fault) {
        try fields("slots", &slots, .list(.slot, count: 2))
        try fields("sequence", &sequence, .number(0...255))
        try fields("ndef", &ndef, .record)
        try fields("scanCodes", &scanCodes, .bytes(Self.scanCodeMapSize...Self.scanCodeMapSize), unless: [])
    }
}

extension OTPMemory.NDEF: StateRecord {
    package init() { self.init(slot: 1, kind: 0, content: []) }

    package mutating func visit(_ fields: inout StateFields) throws(StateFields.Fault) {
        try fields("slot", &slot, .number(1...2))
        try fields("kind", &kind, .number(0...255))
        try fields("content", &content, .bytes)
    }
}

/// A slot as stored in the state file.
private struct StoredSlot: StateRecord {
    var record: [UInt8] = []
    var counter: UInt64 = 0

    mutating func visit(_ fields: inout StateFields) throws(StateFields.Fault) {
        try fields("record", &record, .bytes)
        try fields("counter", &counter, .bitPattern)
    }
}

extension StateCoding<VirtualOTPSlot?> {
    /// A slot, or `null` if it is empty.
    fileprivate static var slot: Self {
        let slot = StateCoding<StoredSlot>.record.converted("expected a slot configuration of 52 bytes") { slot in
            StoredSlot(record: slot.record.encoded, counter: slot.counter)
        } from: { stored in
            (try? OTPSlotRecord(decoding: stored.record)).map { VirtualOTPSlot($0, counter: stored.counter) }
        }
        return .init(write: { $0.map(slot.write) ?? .null }) { json, name throws(StateFields.Fault) in
            json == .null ? nil : try slot.read(json, name)
        }
    }
}

/// A slot of the OTP application that is in use.
package struct VirtualOTPSlot: Hashable, Sendable {
    /// The configuration that was written; its access code protects the slot.
    package var record: OTPSlotRecord
    /// The number of sessions for Yubico OTP, the counter of the next code for HOTP.
    package var counter: UInt64

    init(_ record: OTPSlotRecord) {
        self.record = record
        let start = UInt64(record.identity[4]) << 8 | UInt64(record.identity[5])
        counter = 0
        if kind == .hotp { counter = start << 4 }
    }

    init(_ record: OTPSlotRecord, counter: UInt64) {
        self.record = record
        self.counter = counter
    }

    /// The type of a slot.
    enum Kind: Hashable {
        case yubicoOTP, staticTicket, scanCodes, hotp, challengeOTP, challengeHMAC
    }

    var kind: Kind {
        let flags = record.configuration
        if record.ticket.contains(.hotp) {
            if flags.contains(.challengeHMAC) { return .challengeHMAC }
            return flags.contains(.challengeOTP) ? .challengeOTP : .hotp
        }
        if flags.contains(.staticTicket) { return .staticTicket }
        return flags.contains(.shortTicket) ? .scanCodes : .yubicoOTP
    }

    /// Whether the slot types when touched.
    var isTyped: Bool { kind != .challengeOTP && kind != .challengeHMAC }
    /// Whether a challenge requires a touch.
    var wantsTouch: Bool { !isTyped && record.configuration.contains(.challengeTouch) }
    /// Whether the slot is dormant.
    var isDormant: Bool { record.extended.contains(.dormant) }

    /// Whether the slot can be changed with this access code; any code will do if none is set.
    func accepts(_ code: [UInt8]) -> Bool {
        record.accessCode == OTPSlotRecord.noAccessCode || record.accessCode == code
    }

    /// The 20-byte key of HMAC and HOTP.
    private var longKey: [UInt8] { record.key + record.identity.prefix(4) }

    /// The HMAC-SHA-1 of a 64-byte challenge. A slot for short challenges drops all trailing bytes equal to the last
    /// one.
    func hmac(_ challenge: [UInt8]) -> [UInt8] {
        var message = challenge[...]
        if record.configuration.contains(.shortChallenge), let filler = message.last {
            while message.last == filler { message.removeLast() }
        }
        return HashAlgorithm.sha1.hmac(key: Secret(longKey), Array(message))
    }

    /// The next HOTP code (RFC 4226 §5.3).
    mutating func hotpCode() -> String {
        let message = (0..<8).map { UInt8(truncatingIfNeeded: counter >> UInt64(56 - 8 * $0)) }
        counter &+= 1
        let mac = HashAlgorithm.sha1.hmac(key: Secret(longKey), message)
        let offset = Int(mac[19] & 0x0F)
        let number = mac[offset..<(offset + 4)].reduce(UInt32(0)) { $0 << 8 | UInt32($1) } & 0x7FFF_FFFF
        let digits = record.configuration.contains(.hotp8) ? 8 : 6
        let text = String(number % (digits == 8 ? 100_000_000 : 1_000_000))
        return String(repeating: "0", count: digits - text.utf8.count) + text
    }

    /// An encrypted block: six bytes of identity, use counter 2, timestamp 3, session use 1, random 2, CRC-16.
    func block(_ identity: [UInt8], uses: UInt16, time: UInt32, session: UInt8, random: [UInt8]) -> [UInt8] {
        var writer = ByteWriter(capacity: 16)
        writer.append(identity)
        writer.littleEndian(UInt64(uses), 2)
        writer.littleEndian(UInt64(time), 3)
        writer.byte(session)
        writer.append(random)
        let block = writer.bytes + CRC16.trailer(writer.bytes)
        return (try? BlockCipher.aes.encrypt(block, key: Secret(record.key))) ?? []
    }
}
