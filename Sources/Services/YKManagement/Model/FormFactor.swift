// SPDX-License-Identifier: Apache-2.0

public import YKWire

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
