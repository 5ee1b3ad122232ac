// SPDX-License-Identifier: Apache-2.0

import YKTransport
import YKWire

/// The persistent state of the OTP application.
package struct OTPMemory: Hashable, Sendable {
    /// Slots 1 and 2; `nil` for an empty one.
    package var slots: [VirtualOTPSlot?] = [nil, nil]
    /// The programming sequence; 0 when both slots are empty.
    package var sequence: UInt8 = 0
    /// The NDEF record that was written, and the number of its slot.
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

    /// Notes that something was written.
    mutating func count() {
        if slots == [nil, nil] { sequence = 0 } else { sequence = sequence == .max ? 1 : sequence + 1 }
    }

    /// Bits 0 and 1: in use; 2 and 3: types when touched; 4: the light is off at rest.
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

/// What the OTP application keeps as long as there is power; it makes no difference between two states.
package struct OTPPower: Sendable {
    /// How many Yubico OTPs each slot made.
    var uses: [UInt64] = [0, 0]
    /// When power came, and the timestamp then.
    var since = ContinuousClock.now
    var start: UInt32?

    package init() {}

    /// Eighths of a second from a random start, 24 bits.
    func timestamp(at now: ContinuousClock.Instant) -> UInt32 {
        let eighths = UInt32(clamping: Int64(since.duration(to: now) / .milliseconds(125)))
        return (start ?? 0) &+ eighths & 0xFF_FFFF
    }
}

extension OTPPower: Hashable {
    /// Always: what is lost with the power is not what makes one key another.
    package static func == (left: Self, right: Self) -> Bool { true }
    /// Nothing.
    package func hash(into hasher: inout Hasher) {}
}
