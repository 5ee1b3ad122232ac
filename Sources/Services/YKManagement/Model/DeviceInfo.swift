// SPDX-License-Identifier: Apache-2.0

public import YKTransport
public import YKWire

/// What a key says of itself to the management application.
public struct DeviceInfo: Hashable, Sendable {
    /// A way of plugging a key in.
    public enum Transport: String, Hashable, Sendable, CaseIterable {
        /// A USB port.
        case usb
        /// A contactless reader.
        case nfc
    }

    /// What a key can do over one way of plugging it in, and what of it is switched on.
    public struct Applications: Hashable, Sendable {
        /// What is there.
        public var supported: Capability
        /// What is switched on.
        public var enabled: Capability

        /// Creates a pair.
        public init(supported: Capability, enabled: Capability) {
            self.supported = supported
            self.enabled = enabled
        }
    }

    /// Device flags (tag 08). An open set.
    public struct Flags: OptionSet, Hashable, Sendable {
        /// The bits.
        public let rawValue: UInt8
        /// Wraps bits.
        public init(rawValue: UInt8) { self.rawValue = rawValue }
        /// The key may wake the computer.
        public static let remoteWakeUp = Flags(rawValue: 0x40)
        /// A touch ejects the smart card.
        public static let touchEject = Flags(rawValue: 0x80)
    }

    /// The serial number; absent on security keys and where it is hidden.
    public var serial: UInt32?
    /// The firmware version, for a preview build that which it behaves as.
    public var version: Version
    /// Which build of the version it is, where the key says so.
    public var qualifier: VersionQualifier?
    /// The shape.
    public var formFactor = FormFactor.unknown
    /// Whether it is of the FIPS series.
    public var isFIPSSeries = false
    /// Whether it is of the Security Key series.
    public var isSecurityKeySeries = false
    /// The family that its USB product number is of, where that is known.
    public var family: USBProduct.Family?
    /// Over USB.
    public var usb: Applications
    /// Over NFC, for a key that has it.
    public var nfc: Applications?
    /// Whether a lock code protects what is switched on.
    public var isLocked = false
    /// Device flags.
    public var flags: Flags = []
    /// Seconds after which the smart card is ejected; 0 for never.
    public var autoEjectTimeout: UInt16 = 0
    /// Seconds that challenge-response waits for a touch; 0 for the usual.
    public var challengeResponseTimeout: UInt16 = 0
    /// The part number.
    public var partNumber: String?
    /// Applications that can be used as FIPS 140 asks.
    public var fipsCapable: Capability = []
    /// Applications that are.
    public var fipsApproved: Capability = []
    /// Whether simple PINs are refused.
    public var requiresComplexPIN = false
    /// Whether NFC stays off until the key was once in a USB port.
    public var isNFCRestricted = false
    /// Applications that cannot be reset by themselves.
    public var resetBlocked: Capability = []
    /// The fingerprint sensor's firmware.
    public var fingerprintVersion: Version?
    /// The secure element's neighbour's firmware.
    public var stmVersion: Version?
    /// What else the key said, as it came.
    public var unknown: [TLV] = []
    /// Whether the key is too old to say any of this, and it was found out by trying.
    public var isSynthesized = false

    /// Makes what is known of a key that says nothing but its version.
    public init(version: Version, usb: Capability) {
        self.version = version
        self.usb = Applications(supported: usb, enabled: usb)
    }

    /// What there is over one way of plugging it in; `nil` where there is no such way.
    public func applications(over transport: Transport) -> Applications? { transport == .usb ? usb : nfc }

    /// The version as people write it: for a preview build with its kind and number.
    public var versionText: String {
        guard let qualifier, qualifier.kind != .final else { return version.description }
        return qualifier.description
    }
}
