// SPDX-License-Identifier: Apache-2.0

public import YKWire

/// The six-byte status of the OTP application, the same over HID and over a card.
public struct OTPStatus: Hashable, Sendable {
    /// The firmware version.
    public var version: FirmwareVersion
    /// The programming sequence since the key was plugged in; 0 when both slots are empty.
    public var sequence: UInt8
    /// Which slots are in use (bits 0, 1), which type when touched (2, 3), whether the light is inverted (4).
    public var touchLevel: UInt16
    /// Whether sequence and touch level describe the slots. Over a card, firmware 5.0 to 5.2.4 answers with arbitrary
    /// bytes instead.
    public var isReliable: Bool

    /// Creates a status.
    public init(version: FirmwareVersion, sequence: UInt8, touchLevel: UInt16, isReliable: Bool = true) {
        self.version = version
        self.sequence = sequence
        self.touchLevel = touchLevel
        self.isReliable = isReliable
    }

    /// A status that says nothing about the slots; version 0.0.0 stands for an unknown one.
    static func unreliable(_ version: FirmwareVersion?) -> OTPStatus {
        OTPStatus(version: version ?? FirmwareVersion(0, 0, 0), sequence: 0, touchLevel: 0, isReliable: false)
    }

    /// Decodes the six bytes: version, programming sequence, touch level with its least significant byte first. A
    /// seventh byte, which some firmware adds over a card, is ignored.
    public init(decoding bytes: [UInt8]) throws(WireError) {
        var reader = ByteReader(bytes)
        version = try FirmwareVersion(bytes: try reader.bytes(3, "the version"))
        sequence = try reader.byte("the programming sequence")
        touchLevel = UInt16(truncatingIfNeeded: try reader.littleEndian(2, "the touch level"))
        isReliable = true
    }

    /// The six bytes.
    public var encoded: [UInt8] {
        version.bytes + [sequence, UInt8(truncatingIfNeeded: touchLevel), UInt8(touchLevel >> 8)]
    }

    /// Whether the slot, 1 or 2, is in use; firmware before 2.1 does not report it.
    public func isProgrammed(_ slot: Int) -> Bool? {
        isReliable && version >= FirmwareVersion(2, 1, 0) ? touchLevel & (slot == 1 ? 0x01 : 0x02) != 0 : nil
    }

    /// Whether the slot, 1 or 2, types when touched instead of answering challenges; firmware before 3.0 does not
    /// report it.
    public func isTouchTriggered(_ slot: Int) -> Bool? {
        isReliable && version >= FirmwareVersion(3, 0, 0) ? touchLevel & (slot == 1 ? 0x04 : 0x08) != 0 : nil
    }

    /// Whether the light is off when idle; `nil` if the firmware does not report it.
    public var isLightInverted: Bool? { isReliable ? touchLevel & 0x10 != 0 : nil }

    /// Whether this status confirms that a write after `earlier` took effect.
    ///
    /// The sequence increases by one, or becomes 0 when the last used slot was cleared. Firmware 5.0 to 5.4.2 also
    /// returns 0 over a card after a change, whatever the slots contain.
    func confirms(changeSince earlier: OTPStatus) -> Bool {
        guard isReliable, earlier.isReliable else { return false }
        if sequence == earlier.sequence &+ 1 { return true }
        guard sequence == 0, earlier.sequence > 0 else { return false }
        return touchLevel & 0x1F == 0 || FirmwareVersion(5, 0, 0)..<FirmwareVersion(5, 4, 3) ~= version
    }
}
