// SPDX-License-Identifier: Apache-2.0

import YKProtocols
import YKTransport

/// The applications of a key as bits (Yubico management interface, tags 01, 03, 0D and 0E).
enum VirtualCapability {
    static let otp = ManagementProtocol.Capability.otp
    static let u2f = ManagementProtocol.Capability.u2f
    static let ccid = ManagementProtocol.Capability.ccid
    static let openPGP = ManagementProtocol.Capability.openPGP
    static let piv = ManagementProtocol.Capability.piv
    static let oath = ManagementProtocol.Capability.oath
    static let hsmAuth = ManagementProtocol.Capability.hsmAuth
    static let fido2 = ManagementProtocol.Capability.fido2

    /// The applications on the smart card interface.
    static let overCard = ccid | openPGP | piv | oath | hsmAuth

    /// The interfaces of each USB mode: OTP 1, FIDO 2, CCID 4.
    static let modes: [UInt8] = [1, 4, 5, 2, 3, 6, 7]

    /// Returns the interfaces that applications need.
    static func interfaces(_ applications: UInt32) -> UInt8 {
        (applications & otp != 0 ? 1 : 0) | (applications & (u2f | fido2) != 0 ? 2 : 0)
            | (applications & overCard != 0 ? 4 : 0)
    }

    /// Returns the applications that are available over these interfaces.
    static func limit(_ applications: UInt32, to interfaces: UInt8) -> UInt32 {
        var left = applications
        if interfaces & 1 == 0 { left &= ~otp }
        if interfaces & 2 == 0 { left &= ~(u2f | fido2) }
        if interfaces & 4 == 0 { left &= ~overCard }
        return left
    }
}

extension DeviceProfile {
    /// Whether the key is of the Security Key series, according to the bit in its form factor.
    var isSecurityKey: Bool { formFactor & 0x40 != 0 }
    /// Whether the key is of the FIPS series.
    package var isFIPS: Bool { formFactor & 0x80 != 0 || version.major == 4 && version.minor == 4 }
    /// Whether the key is of the YubiKey 5 FIPS series with firmware 5.7 or later, which has stricter rules.
    var isFIPS57: Bool { isFIPS && version >= FirmwareVersion(5, 7, 0) }
    /// Whether the key has firmware 5.8 or later.
    var isFirmware58: Bool { version >= Self.firmware58 }
    static let firmware58 = FirmwareVersion(5, 8, 0)
    /// Whether the PIN complexity policy applies to the whole key.
    package var requiresComplexPIN: Bool { isFIPS57 }
    /// The minimum length of a FIDO PIN for this series, in code points.
    var minFIDOPINLength: UInt64 { isFIPS57 ? 8 : isFIPS && version.major >= 5 ? 6 : 4 }
    /// The minimum length of a PIV PIN or PUK, in bytes.
    var minPIVPINLength: Int { isFIPS57 ? 8 : 6 }
    /// The version that the OATH application reports. Early NEOs have the separate applet ykneo-oath, which has its own
    /// version numbers.
    var oathVersion: FirmwareVersion {
        version >= FirmwareVersion(3, 0, 0) && version < FirmwareVersion(3, 4, 0) ? FirmwareVersion(0, 2, 1) : version
    }
    /// Whether the key has a fingerprint sensor, according to its form factor.
    package var isBio: Bool { [6, 7].contains(formFactor & 0x0F) }
    /// Whether the key has NFC; only keychain keys do.
    package var hasNFC: Bool { version.major == 3 || version.major >= 5 && [1, 3].contains(formFactor & 0x0F) }

    /// The applications of a key of this version, series and form factor.
    package var applications: UInt32 {
        if let usb = model.usb { return usb.applications }
        if isSecurityKey { return VirtualCapability.u2f | (version.major >= 5 ? VirtualCapability.fido2 : 0) }
        let base = VirtualCapability.u2f | VirtualCapability.oath | VirtualCapability.piv
        switch version.major {
        case ...2: return VirtualCapability.otp
        case 3, 4: return base | VirtualCapability.otp
        default:
            return isBio
                ? VirtualCapability.u2f | VirtualCapability.fido2 | VirtualCapability.piv
                : base | VirtualCapability.otp | VirtualCapability.fido2
                    | (version >= FirmwareVersion(5, 2, 0) ? VirtualCapability.openPGP : 0)
                    | (version >= FirmwareVersion(5, 4, 3) ? VirtualCapability.hsmAuth : 0)
        }
    }
}

extension VirtualKeyState {
    /// The applications enabled over a transport.
    package func enabled(over transport: DeviceProfile.Transport) -> UInt32 {
        switch transport {
        case .usb:
            guard profile.version.major < 5 else { return management.usbEnabled ?? profile.applications }
            return VirtualCapability.limit(profile.applications, to: modeInterfaces)
        case .nfc:
            guard profile.hasNFC else { return 0 }
            return management.nfcEnabled ?? profile.applications
        }
    }

    private var modeInterfaces: UInt8 { management.mode.map { VirtualCapability.modes[Int($0)] } ?? 7 }

    /// The USB interfaces that the key exposes: OTP 1, FIDO 2, CCID 4.
    package var usbInterfaces: UInt8 { VirtualCapability.interfaces(enabled(over: .usb)) }

    /// The USB product number, which depends on family and interfaces.
    package var usbProduct: UInt16 {
        if let usb = profile.model.usb { return usb.product }
        if profile.version.major <= 2 { return 0x0010 }
        if profile.isSecurityKey, profile.version.major < 5 { return 0x0120 }
        let isNEO = profile.version.major == 3
        let numbers: [UInt8: UInt16] =
            isNEO
            ? [1: 0x0110, 5: 0x0111, 4: 0x0112, 2: 0x0113, 3: 0x0114, 6: 0x0115, 7: 0x0116]
            : [1: 0x0401, 2: 0x0402, 3: 0x0403, 4: 0x0404, 5: 0x0405, 6: 0x0406, 7: 0x0407]
        return numbers[usbInterfaces] ?? (isNEO ? 0x0116 : 0x0407)
    }

    /// The name of the USB manufacturer.
    package var usbMaker: String { profile.model.usb?.maker ?? "Yubico" }

    /// The USB product name.
    package var usbProductName: String {
        if let usb = profile.model.usb { return usb.name }
        let isNEO = profile.version.major <= 3
        let names = [(UInt8(1), "OTP"), (2, isNEO ? "U2F" : "FIDO"), (4, "CCID")]
        let shown = names.filter { usbInterfaces & $0.0 != 0 }.map(\.1).joined(separator: "+")
        return (isNEO ? "Yubikey NEO " : "YubiKey ") + shown
    }
}
