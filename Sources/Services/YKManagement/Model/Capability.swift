// SPDX-License-Identifier: Apache-2.0

import YKProtocols
public import YKTransport
public import YKWire

/// Applications of a key, as bits (Yubico management interface). An open set: unknown bits are kept.
public struct Capability: OptionSet, Hashable, Sendable {
    /// The bits.
    public let rawValue: UInt32
    /// Wraps bits.
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// Yubico OTP slots.
    public static let otp = Capability(rawValue: ManagementProtocol.Capability.otp)
    /// FIDO U2F.
    public static let u2f = Capability(rawValue: ManagementProtocol.Capability.u2f)
    /// The smart card interface as a whole.
    public static let ccid = Capability(rawValue: ManagementProtocol.Capability.ccid)
    /// OpenPGP card.
    public static let openPGP = Capability(rawValue: ManagementProtocol.Capability.openPGP)
    /// PIV.
    public static let piv = Capability(rawValue: ManagementProtocol.Capability.piv)
    /// OATH.
    public static let oath = Capability(rawValue: ManagementProtocol.Capability.oath)
    /// YubiHSM Auth.
    public static let hsmAuth = Capability(rawValue: ManagementProtocol.Capability.hsmAuth)
    /// FIDO2.
    public static let fido2 = Capability(rawValue: ManagementProtocol.Capability.fido2)
    /// Management over the smart card interface.
    public static let managementOverCCID = Capability(rawValue: ManagementProtocol.Capability.managementOverCCID)

    /// The applications in their usual order, with their names.
    public static let applications: [(capability: Capability, name: String)] = [
        (.otp, "Yubico OTP"), (.u2f, "FIDO U2F"), (.fido2, "FIDO2"), (.oath, "OATH"), (.piv, "PIV"),
        (.openPGP, "OpenPGP"), (.hsmAuth, "YubiHSM Auth"),
    ]

    /// The names of the applications among the bits.
    public var names: [String] { Self.applications.filter { contains($0.capability) }.map(\.name) }

    /// The names in one line.
    package var sentence: String { names.isEmpty ? "nothing" : names.listed() }

    /// Reads the bit map of the FIPS tags, which numbers the applications differently.
    init(fips: UInt32) {
        let order: [Capability] = [.fido2, .piv, .openPGP, .oath, .hsmAuth]
        self = order.enumerated().reduce(into: []) { result, entry in
            if fips & (1 << UInt32(entry.offset)) != 0 { result.insert(entry.element) }
        }
    }
}

/// The form factor of a key (Yubico management interface, tag 04).
public struct FormFactor: OpenSet {
    /// The low four bits of the tag's value.
    public let rawValue: UInt8
    /// Wraps a code.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Unspecified.
    public static let unknown = FormFactor(rawValue: 0)
    /// USB-A, for a key ring.
    public static let usbAKeychain = FormFactor(rawValue: 1)
    /// USB-A, stays in the port.
    public static let usbANano = FormFactor(rawValue: 2)
    /// USB-C, for a key ring.
    public static let usbCKeychain = FormFactor(rawValue: 3)
    /// USB-C, stays in the port.
    public static let usbCNano = FormFactor(rawValue: 4)
    /// USB-C and Lightning.
    public static let usbCLightning = FormFactor(rawValue: 5)
    /// USB-A with a fingerprint sensor.
    public static let usbABio = FormFactor(rawValue: 6)
    /// USB-C with a fingerprint sensor.
    public static let usbCBio = FormFactor(rawValue: 7)

    /// Whether there is a fingerprint sensor.
    public var isBio: Bool { self == .usbABio || self == .usbCBio }
    /// Whether it is meant to stay in the port.
    public var isNano: Bool { self == .usbANano || self == .usbCNano }

    /// The form factor in words.
    public var description: String {
        switch self {
        case .unknown: "unknown"
        case .usbAKeychain: "Keychain (USB-A)"
        case .usbANano: "Nano (USB-A)"
        case .usbCKeychain: "Keychain (USB-C)"
        case .usbCNano: "Nano (USB-C)"
        case .usbCLightning: "Keychain (USB-C, Lightning)"
        case .usbABio: "Bio (USB-A)"
        case .usbCBio: "Bio (USB-C)"
        default: "form factor \(rawValue)"
        }
    }
}

/// The build of a firmware version (Yubico management interface, tag 19).
public struct VersionQualifier: Hashable, Sendable, CustomStringConvertible {
    /// The release stage of a build.
    public struct Kind: OpenSet {
        /// The code.
        public let rawValue: UInt8
        /// Wraps a code.
        public init(rawValue: UInt8) { self.rawValue = rawValue }
        /// Alpha.
        public static let alpha = Kind(rawValue: 0)
        /// Beta.
        public static let beta = Kind(rawValue: 1)
        /// A release.
        public static let final = Kind(rawValue: 2)

        /// The kind in a word.
        public var description: String {
            switch self {
            case .alpha: "alpha"
            case .beta: "beta"
            case .final: "final"
            default: "kind \(rawValue)"
            }
        }
    }

    /// The version that the build behaves as.
    public let version: FirmwareVersion
    /// Its release stage.
    public let kind: Kind
    /// The build number within that stage.
    public let iteration: UInt8

    /// Version, kind and build, as in `5.7.2.beta.3`.
    public var description: String { "\(version).\(kind).\(iteration)" }
}

/// The enabled USB interfaces of a key before firmware 5, as one number (Yubico management interface, SET MODE).
public struct USBMode: Hashable, Sendable, CustomStringConvertible {
    /// The interfaces.
    public let interfaces: USBInterfaces

    /// The modes 0 to 6.
    private static let modes: [USBInterfaces] = [
        .otp, .ccid, [.otp, .ccid], .fido, [.otp, .fido], [.fido, .ccid], [.otp, .fido, .ccid],
    ]

    /// The mode with these interfaces; `nil` if there is none.
    public init?(_ interfaces: USBInterfaces) {
        guard Self.modes.contains(interfaces) else { return nil }
        self.interfaces = interfaces
    }

    /// The mode with this number, in the low three bits; `nil` for 7.
    public init?(code: UInt8) {
        guard Self.modes.indices.contains(Int(code & 7)) else { return nil }
        interfaces = Self.modes[Int(code & 7)]
    }

    /// Parses a number from 0 to 6, or names such as `OTP+FIDO+CCID`, `o+f+c` or `U2F+CCID`; `nil` for any other
    /// string.
    public init?(_ text: String) {
        if let code = UInt8(text) {
            guard code < 7 else { return nil }
            self.init(code: code)
            return
        }
        var found: USBInterfaces = []
        for word in text.uppercased().split(separator: "+", omittingEmptySubsequences: false) {
            let names = USBInterfaces.all + [(.fido, "U2F")]
            guard !word.isEmpty, let match = names.first(where: { $0.name.hasPrefix(word) }) else { return nil }
            found.insert(match.interface)
        }
        self.init(found)
    }

    /// Its number.
    public var code: UInt8 { UInt8(Self.modes.firstIndex(of: interfaces) ?? 0) }
    /// The names of the interfaces.
    public var description: String { interfaces.description }
}

/// The USB interfaces of a YubiKey: a keyboard for OTP, FIDO HID, and a smart card reader.
public struct USBInterfaces: OptionSet, Hashable, Sendable, CustomStringConvertible {
    /// The bits, specific to this library.
    public let rawValue: UInt8
    /// Wraps bits.
    public init(rawValue: UInt8) { self.rawValue = rawValue }
    /// The keyboard.
    public static let otp = USBInterfaces(rawValue: 1)
    /// FIDO HID.
    public static let fido = USBInterfaces(rawValue: 2)
    /// The smart card reader.
    public static let ccid = USBInterfaces(rawValue: 4)

    /// In the order used in mode names, with their names.
    public static let all: [(interface: USBInterfaces, name: String)] = [
        (.otp, "OTP"), (.fido, "FIDO"), (.ccid, "CCID"),
    ]

    /// Their names with `+` between them, as in `OTP+FIDO+CCID`.
    public var description: String {
        let names = Self.all.filter { contains($0.interface) }.map(\.name)
        return names.isEmpty ? "none" : names.joined(separator: "+")
    }
}

extension Capability {
    /// The applications of the smart card interface.
    static let overCard: Capability = [.ccid, .managementOverCCID, .oath, .piv, .openPGP, .hsmAuth]

    /// The USB interfaces that these applications need.
    public var usbInterfaces: USBInterfaces {
        var interfaces: USBInterfaces = []
        if contains(.otp) { interfaces.insert(.otp) }
        if !isDisjoint(with: [.u2f, .fido2]) { interfaces.insert(.fido) }
        if !isDisjoint(with: Self.overCard) { interfaces.insert(.ccid) }
        return interfaces
    }

    /// Returns those that are usable over these interfaces.
    func limited(to interfaces: USBInterfaces) -> Capability {
        var left = self
        if !interfaces.contains(.otp) { left.remove(.otp) }
        if !interfaces.contains(.fido) { left.subtract([.u2f, .fido2]) }
        if !interfaces.contains(.ccid) { left.subtract(Self.overCard) }
        return left
    }
}
