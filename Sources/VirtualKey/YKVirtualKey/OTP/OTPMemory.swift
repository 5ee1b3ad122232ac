// SPDX-License-Identifier: Apache-2.0

import YKTransport
import YKWire

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
