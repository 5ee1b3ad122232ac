// SPDX-License-Identifier: Apache-2.0

public import YKWire

/// A transport of a key (WebAuthn Level 3 §5.8.4).
public struct AuthenticatorTransport: OpenSet {
    /// The name.
    public let rawValue: String
    /// Wraps a name.
    public init(rawValue: String) { self.rawValue = rawValue }
    /// USB.
    public static let usb = AuthenticatorTransport(rawValue: "usb")
    /// Near-field communication.
    public static let nfc = AuthenticatorTransport(rawValue: "nfc")
    /// Bluetooth Low Energy.
    public static let ble = AuthenticatorTransport(rawValue: "ble")
    /// ISO 7816 smart card with contacts.
    public static let smartCard = AuthenticatorTransport(rawValue: "smart-card")
    /// A phone near this computer.
    public static let hybrid = AuthenticatorTransport(rawValue: "hybrid")
    /// Built into the computer.
    public static let `internal` = AuthenticatorTransport(rawValue: "internal")
}
