// SPDX-License-Identifier: Apache-2.0

import YKWire

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
