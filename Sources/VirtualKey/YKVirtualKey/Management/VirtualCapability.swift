// SPDX-License-Identifier: Apache-2.0

package import YKTransport

/// The applications of a key as bits (Yubico management interface, tags 01, 03, 0D and 0E).
enum VirtualCapability {
    static let otp: UInt32 = 0x0001
    static let u2f: UInt32 = 0x0002
    static let ccid: UInt32 = 0x0004
    static let openPGP: UInt32 = 0x0008
    static let piv: UInt32 = 0x0010
    static let oath: UInt32 = 0x0020
    static let hsmAuth: UInt32 = 0x0100
    static let fido2: UInt32 = 0x0200

    /// Those behind the smart card interface.
    static let overCard = ccid | openPGP | piv | oath | hsmAuth

    /// The interfaces that a USB mode shows: OTP 1, FIDO 2, CCID 4.
    static let modes: [UInt8] = [1, 4, 5, 2, 3, 6, 7]

    /// The interfaces that applications need.
    static func interfaces(_ applications: UInt32) -> UInt8 {
        (applications & otp != 0 ? 1 : 0) | (applications & (u2f | fido2) != 0 ? 2 : 0)
            | (applications & overCard != 0 ? 4 : 0)
    }

    /// What of the applications can be used with interfaces.
    static func limit(_ applications: UInt32, to interfaces: UInt8) -> UInt32 {
        var left = applications
        if interfaces & 1 == 0 { left &= ~otp }
        if interfaces & 2 == 0 { left &= ~(u2f | fido2) }
        if interfaces & 4 == 0 { left &= ~overCard }
        return left
    }
}

extension DeviceProfile {
    /// Whether it is of the Security Key series, by the bit in its form factor.
    package var isSecurityKey: Bool { formFactor & 0x40 != 0 }
    /// Whether it is of the FIPS series.
    package var isFIPS: Bool { formFactor & 0x80 != 0 || version.major == 4 && version.minor == 4 }
    /// Whether it is of the YubiKey 5 FIPS series from firmware 5.7 on, whose rules are stricter than those before.
    package var isFIPS57: Bool { isFIPS && version >= Version(5, 7, 0) }
    /// Whether the PIN complexity policy is on for the whole key.
    package var requiresComplexPIN: Bool { isFIPS57 }
    /// The shortest FIDO PIN of the series, in code points.
    var minFIDOPINLength: UInt64 { isFIPS57 ? 8 : isFIPS && version.major >= 5 ? 6 : 4 }
    /// The shortest PIV PIN and PUK, in bytes.
    var minPIVPINLength: Int { isFIPS57 ? 8 : 6 }
    /// The version that the OATH application tells. Early NEOs carry the separate applet ykneo-oath, whose numbers are
    /// its own.
    package var oathVersion: Version {
        version >= Version(3, 0, 0) && version < Version(3, 4, 0) ? Version(0, 2, 1) : version
    }
    /// Whether it has a fingerprint sensor, by its form factor.
    package var isBio: Bool { [6, 7].contains(formFactor & 0x0F) }
    /// Whether it has an aerial: keys for a key ring.
    package var hasNFC: Bool { version.major == 3 || version.major >= 5 && [1, 3].contains(formFactor & 0x0F) }

    /// The applications of a key of this version, series and shape.
    package var applications: UInt32 {
        if isSecurityKey { return VirtualCapability.u2f | (version.major >= 5 ? VirtualCapability.fido2 : 0) }
        let base = VirtualCapability.u2f | VirtualCapability.oath | VirtualCapability.piv
        switch version.major {
        case ...2: return VirtualCapability.otp
        case 3, 4: return base | VirtualCapability.otp
        default:
            return isBio
                ? VirtualCapability.u2f | VirtualCapability.fido2 | VirtualCapability.piv
                : base | VirtualCapability.otp | VirtualCapability.fido2
                    | (version >= Version(5, 2, 0) ? VirtualCapability.openPGP : 0)
                    | (version >= Version(5, 4, 3) ? VirtualCapability.hsmAuth : 0)
        }
    }
}

extension VirtualKeyState {
    /// What is switched on over a way of plugging the key in.
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

    /// The USB interfaces that the key shows: OTP 1, FIDO 2, CCID 4.
    package var usbInterfaces: UInt8 { VirtualCapability.interfaces(enabled(over: .usb)) }

    /// The USB product number, which tells family and interfaces.
    package var usbProduct: UInt16 {
        if profile.version.major <= 2 { return 0x0010 }
        if profile.isSecurityKey, profile.version.major < 5 { return 0x0120 }
        let isNEO = profile.version.major == 3
        let numbers: [UInt8: UInt16] =
            isNEO
            ? [1: 0x0110, 5: 0x0111, 4: 0x0112, 2: 0x0113, 3: 0x0114, 6: 0x0115, 7: 0x0116]
            : [1: 0x0401, 2: 0x0402, 3: 0x0403, 4: 0x0404, 5: 0x0405, 6: 0x0406, 7: 0x0407]
        return numbers[usbInterfaces] ?? (isNEO ? 0x0116 : 0x0407)
    }

    /// What the key calls its product on the USB.
    package var usbProductName: String {
        let isNEO = profile.version.major <= 3
        let names = [(UInt8(1), "OTP"), (2, isNEO ? "U2F" : "FIDO"), (4, "CCID")]
        let shown = names.filter { usbInterfaces & $0.0 != 0 }.map(\.1).joined(separator: "+")
        return (isNEO ? "Yubikey NEO " : "YubiKey ") + shown
    }
}
