// SPDX-License-Identifier: Apache-2.0

public import YKTransport
public import YKWire

/// The device information that a key reports to the management application.
public struct DeviceInfo: Hashable, Sendable {
    /// A transport of a key.
    public enum Transport: String, Hashable, Sendable, CaseIterable {
        /// A USB port.
        case usb
        /// A contactless reader.
        case nfc
    }

    /// The supported and the enabled applications over one transport.
    public struct Applications: Hashable, Sendable {
        /// The supported applications.
        public var supported: Capability
        /// The enabled applications.
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

    /// The serial number; absent on security keys and if it is hidden.
    public var serial: UInt32?
    /// The firmware version; for a preview build, the version it behaves as.
    public var version: FirmwareVersion
    /// The build of the version, if reported.
    public var qualifier: VersionQualifier?
    /// The form factor.
    public var formFactor = FormFactor.unknown
    /// Whether it belongs to the FIPS series.
    public var isFIPSSeries = false
    /// Whether it belongs to the Security Key series.
    public var isSecurityKeySeries = false
    /// The family of its USB product number, if known.
    public var family: USBProduct.Family?
    /// Over USB.
    public var usb: Applications
    /// Over NFC, if the key supports it.
    public var nfc: Applications?
    /// Whether a lock code protects the configuration.
    public var isLocked = false
    /// Device flags.
    public var flags: Flags = []
    /// The time after which the smart card is ejected; zero for never.
    public var autoEjectTimeout = Duration.zero
    /// How long challenge-response waits for a touch; zero for the default.
    public var challengeResponseTimeout = Duration.zero
    /// The part number.
    public var partNumber: String?
    /// Applications that support FIPS 140 approved mode.
    public var fipsCapable: Capability = []
    /// Applications in FIPS 140 approved mode.
    public var fipsApproved: Capability = []
    /// Whether simple PINs are refused.
    public var requiresComplexPIN = false
    /// Whether NFC is disabled until the key has been powered over USB.
    public var isNFCRestricted = false
    /// Applications that cannot be reset individually.
    public var resetBlocked: Capability = []
    /// The fingerprint sensor's firmware.
    public var fingerprintVersion: FirmwareVersion?
    /// The firmware of the second processor beside the secure element.
    public var stmVersion: FirmwareVersion?
    /// Unrecognized data objects.
    public var unknown: [TLV] = []
    /// Whether the key is too old to report device information, which was probed instead.
    public var isSynthesized = false

    /// Creates the information of a key that reports only its version.
    public init(version: FirmwareVersion, usb: Capability) {
        self.version = version
        self.usb = Applications(supported: usb, enabled: usb)
    }

    /// Returns the applications over a transport; `nil` if the key does not support it.
    public func applications(over transport: Transport) -> Applications? { transport == .usb ? usb : nfc }

    /// The version for display; for a preview build with its kind and number.
    public var versionText: String {
        guard let qualifier, qualifier.kind != .final else { return version.description }
        return qualifier.description
    }
}
