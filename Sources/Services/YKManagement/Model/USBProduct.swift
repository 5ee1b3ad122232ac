// SPDX-License-Identifier: Apache-2.0

import YKTransport
import YKWire

/// The meaning of a Yubico USB product number: the family and the interfaces.
public struct USBProduct: Hashable, Sendable {
    /// A family of keys.
    public enum Family: Hashable, Sendable {
        /// YubiKey 1 and 2.
        case standard
        /// YubiKey NEO.
        case neo
        /// Security Key by Yubico.
        case securityKey
        /// YubiKey Plus.
        case plus
        /// YubiKey 4 and 5.
        case fourAndFive
    }

    /// The family.
    public let family: Family
    /// The interfaces.
    public let interfaces: USBInterfaces

    /// The USB vendor number of Yubico.
    public static let vendor: UInt16 = 0x1050

    private static let table: [UInt16: USBProduct] = [
        0x0010: .init(.standard, .otp), 0x0110: .init(.neo, .otp), 0x0111: .init(.neo, [.otp, .ccid]),
        0x0112: .init(.neo, .ccid), 0x0113: .init(.neo, .fido), 0x0114: .init(.neo, [.otp, .fido]),
        0x0115: .init(.neo, [.fido, .ccid]), 0x0116: .init(.neo, [.otp, .fido, .ccid]),
        0x0120: .init(.securityKey, .fido), 0x0401: .init(.fourAndFive, .otp), 0x0402: .init(.fourAndFive, .fido),
        0x0403: .init(.fourAndFive, [.otp, .fido]), 0x0404: .init(.fourAndFive, .ccid),
        0x0405: .init(.fourAndFive, [.otp, .ccid]), 0x0406: .init(.fourAndFive, [.fido, .ccid]),
        0x0407: .init(.fourAndFive, [.otp, .fido, .ccid]), 0x0410: .init(.plus, [.otp, .fido]),
    ]

    private init(_ family: Family, _ interfaces: USBInterfaces) {
        self.family = family
        self.interfaces = interfaces
    }

    /// Looks up the numbers of a USB device; `nil` if it is not one of Yubico's keys.
    public init?(vendor: UInt16, product: UInt16) {
        guard vendor == Self.vendor, let known = Self.table[product] else { return nil }
        self = known
    }

    /// Parses the name of a PC/SC reader such as `Yubico YubiKey OTP+FIDO+CCID 00 00`; `nil` for any other name.
    public init?(reader: String) {
        let name = reader.uppercased()
        guard name.contains(bytesOf: "YUBIKEY"), name.contains(bytesOf: "CCID") else { return nil }
        var found: USBInterfaces = .ccid
        if name.contains(bytesOf: "OTP") { found.insert(.otp) }
        if name.contains(bytesOf: "FIDO") || name.contains(bytesOf: "U2F") { found.insert(.fido) }
        self.init(name.contains(bytesOf: "NEO") ? .neo : .fourAndFive, found)
    }

    /// Fills in the known properties of a key that has no device information (ykman 5.9.2).
    func complete(_ info: inout DeviceInfo) {
        switch family {
        case .neo:
            info.usb.supported.formUnion([.otp, .oath, .piv, .openPGP])
            if interfaces.contains(.fido) || info.version >= .init(3, 3, 0) { info.usb.supported.insert(.u2f) }
            info.nfc = .init(supported: info.usb.supported, enabled: info.usb.supported)
        case .plus:
            info.usb.supported = [.otp, .u2f]
            if info.version.major < 4 { info.version = .init(4, 0, 0) }
        case .securityKey: info.isSecurityKeySeries = true
        case .standard: info.usb.supported = .otp
        case .fourAndFive: break
        }
        info.usb.enabled = info.usb.supported
    }
}
