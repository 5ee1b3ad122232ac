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

    /// The product name, as far as the reported fields determine it.
    public var productName: String {
        if family == .plus { return "YubiKey Plus" }
        if family == .standard { return "YubiKey Standard" }
        if isSecurityKeySeries, (1...4).contains(version.major) { return oldSecurityKeyName }
        return switch version.major {
        case 0: "YubiKey (\(version))"
        case 1, 2: "YubiKey"
        case 3: "YubiKey NEO"
        case 4: fourName
        default: isPreview ? "YubiKey Preview" : isSecurityKeySeries ? securityKeyName : fiveName
        }
    }

    private var oldSecurityKeyName: String {
        usb.supported.contains(.fido2) ? securityKeyName : "FIDO U2F Security Key"
    }

    private var fourName: String {
        if version >= FirmwareVersion(4, 4, 0), version < FirmwareVersion(4, 5, 0) { return "YubiKey FIPS (4 Series)" }
        return usb.supported == [.otp, .u2f] ? "YubiKey Edge" : "YubiKey 4"
    }

    private var isPreview: Bool {
        let ranges = [
            FirmwareVersion(5, 0, 0)..<FirmwareVersion(5, 1, 0), FirmwareVersion(5, 2, 0)..<FirmwareVersion(5, 2, 3),
            FirmwareVersion(5, 5, 0)..<FirmwareVersion(5, 5, 2),
        ]
        return ranges.contains { $0.contains(version) }
    }

    private var isTypeC: Bool { [.usbCKeychain, .usbCNano, .usbCBio].contains(formFactor) }

    private var securityKeyName: String {
        var words = [isTypeC ? "Security Key C" : "Security Key"]
        if nfc != nil { words.append("NFC") }
        if serial != nil { words.append("- Enterprise Edition") }
        return words.listed(by: " ")
    }

    private var fiveName: String {
        if formFactor.isBio { return bioName }
        var words = ["YubiKey 5" + connector]
        if formFactor.isNano { words.append("Nano") } else if nfc != nil { words.append("NFC") }
        if isFIPSSeries { words.append("FIPS") } else if requiresComplexPIN { words.append("- Enhanced PIN") }
        return words.listed(by: " ")
    }

    private var connector: String {
        if isTypeC { return "C" }
        if formFactor == .usbCLightning { return "Ci" }
        return formFactor == .usbAKeychain && nfc == nil ? "A" : ""
    }

    private var bioName: String {
        let name = isTypeC ? "YubiKey C Bio" : "YubiKey Bio"
        if isFIPSSeries { return name + " FIPS" }
        if usb.supported.contains(.piv) { return name + " - Multi-protocol Edition" }
        return usb.supported.isDisjoint(with: [.otp, .oath, .openPGP, .hsmAuth]) ? name + " - FIDO Edition" : name
    }

    /// The names of the secure channel protocols that this firmware has; empty before 5.3 and for the Security Key series.
    public var secureChannels: [String] {
        guard version >= FirmwareVersion(5, 3, 0), !isSecurityKeySeries else { return [] }
        return version >= FirmwareVersion(5, 7, 2) ? ["SCP03", "SCP11a", "SCP11b", "SCP11c"] : ["SCP03"]
    }
}
