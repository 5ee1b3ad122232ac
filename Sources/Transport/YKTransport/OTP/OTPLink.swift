// SPDX-License-Identifier: Apache-2.0

public import YKWire

/// A link to the OTP application of a key: commands with a payload out, data or a new status back.
///
/// It is synchronous, used by one thread at a time, and transferred once to its user.
public protocol OTPLink: AnyObject {
    /// The environment of the link.
    var environment: ServiceEnvironment { get }
    /// How the application is reached.
    var carrier: OTPCarrier { get }

    /// Reads the status of the application.
    func status(deadline: Deadline) throws(OTPLinkError) -> OTPStatus

    /// Sends a command that returns data; `waiting` is called while the key waits for a touch.
    ///
    /// - Throws: `rejected` when the key returns no data, `notTouched` when the key's touch timeout expires.
    func query(
        _ command: OTPCommand, _ payload: [UInt8], reply: OTPReplySize, deadline: Deadline, waiting: () -> Void
    ) throws(OTPLinkError) -> [UInt8]

    /// Sends a command that changes the application, and returns the status that confirms the change.
    ///
    /// - Throws: `rejected` when the key refuses it, for example because of a wrong access code.
    func write(_ command: OTPCommand, _ payload: [UInt8], deadline: Deadline) throws(OTPLinkError) -> OTPStatus

    /// Lets other programs use the key until the next command.
    func rest()

    /// Closes the link.
    func close()
}

/// How an OTP application is reached.
public enum OTPCarrier: String, Sendable, Hashable {
    /// Feature reports of the key's keyboard interface.
    case hid
    /// A smart card.
    case card
}

/// The length of a reply.
public enum OTPReplySize: Sendable, Hashable {
    /// This many bytes.
    case bytes(Int)
    /// As many as the first byte says, plus that byte.
    case counted

    /// The number of valid bytes in a reply.
    func count(of reply: [UInt8]) -> Int {
        switch self {
        case .bytes(let count): count
        case .counted: 1 + Int(reply.first ?? 0)
        }
    }
}

/// Why a command to the OTP application failed.
public enum OTPLinkError: Error, Hashable, Sendable {
    /// The device failed.
    case device(LinkError)
    /// The card failed, or returned a status word without a special meaning here.
    case card(CardError)
    /// The key refused: the access code is missing or wrong, the slot is empty or programmed for something else, or the firmware does
    /// not know the command.
    case rejected(OTPCommand)
    /// The key was not touched in time.
    case notTouched
    /// The reply is malformed.
    case malformed(WireError)

    /// The underlying link failure, if any.
    public var link: LinkError? { LinkError(causing: self) }
}

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
