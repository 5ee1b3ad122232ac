// SPDX-License-Identifier: Apache-2.0

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
