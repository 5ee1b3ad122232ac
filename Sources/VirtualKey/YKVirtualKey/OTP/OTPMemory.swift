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
package struct OTPPower: Sendable {
    /// The number of Yubico OTPs that each slot has generated.
    var uses: [UInt64] = [0, 0]
    /// The time of power-on, and the timestamp at that time.
    var since = ContinuousClock.now
    var start: UInt32?

    package init() {}

    /// The 24-bit timestamp: eighths of a second from a random start.
    func timestamp(at now: ContinuousClock.Instant) -> UInt32 {
        let eighths = UInt32(clamping: Int64(since.duration(to: now) / .milliseconds(125)))
        return (start ?? 0) &+ eighths & 0xFF_FFFF
    }
}

extension OTPPower: Hashable {
    /// Always true: volatile state does not make one key different from another.
    package static func == (left: Self, right: Self) -> Bool { true }
    /// Does nothing.
    package func hash(into hasher: inout Hasher) {}
}

extension OTPMemory {
    /// The memory as stored in the state file; `nil` if the application was never used.
    var json: JSONValue? {
        guard self != OTPMemory() else { return nil }
        var object = JSONValue.Object()
        object["slots"] = .array(slots.map { $0?.json ?? .null })
        object["sequence"] = .int(Int64(sequence))
        object["ndef"] = ndef.map {
            ["slot": .int(Int64($0.slot)), "kind": .int(Int64($0.kind)), "content": .string(Hex.encode($0.content))]
        }
        if !scanCodes.isEmpty { object["scanCodes"] = .string(Hex.encode(scanCodes)) }
        return .object(object)
    }

    /// Parses the memory in a state file.
    init(_ fields: StateFields) throws(StateFields.Fault) {
        var fields = fields
        self.init()
        guard let list = fields.take("slots")?.array, list.count == 2 else {
            throw fields.fault("slots", "expected two slots")
        }
        for (index, entry) in list.enumerated() where entry != .null {
            slots[index] = try VirtualOTPSlot(try StateFields(entry, path: "otp.slots[\(index)]"))
        }
        sequence = try fields.number("sequence", 0...255)
        if fields.has("ndef") {
            var entry = try fields.fields("ndef")
            ndef = NDEF(
                slot: try entry.number("slot", 1...2), kind: try entry.number("kind", 0...255),
                content: try entry.bytes("content"))
            try entry.finish()
        }
        if fields.has("scanCodes") {
            scanCodes = try fields.bytes("scanCodes")
            guard scanCodes.count == OTPMemory.scanCodeMapSize else {
                throw fields.fault("scanCodes", "expected 45 bytes")
            }
        }
        try fields.finish()
    }
}

extension VirtualOTPSlot {
    fileprivate var json: JSONValue {
        ["record": .string(Hex.encode(record.encoded)), "counter": .int(Int64(bitPattern: counter))]
    }

    fileprivate init(_ fields: StateFields) throws(StateFields.Fault) {
        var fields = fields
        guard let record = try? OTPSlotRecord(decoding: try fields.bytes("record")) else {
            throw fields.fault("record", "expected a slot configuration of 52 bytes")
        }
        self.init(record, counter: UInt64(bitPattern: try fields.number("counter", Int64.min ... .max)))
        try fields.finish()
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
