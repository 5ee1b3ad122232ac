// SPDX-License-Identifier: Apache-2.0

/// How a key can be reached (WebAuthn Level 3 §5.8.4). An open set.
public struct AuthenticatorTransport: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
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
    /// A telephone beside this machine.
    public static let hybrid = AuthenticatorTransport(rawValue: "hybrid")
    /// Part of the machine.
    public static let `internal` = AuthenticatorTransport(rawValue: "internal")
    /// The name.
    public var description: String { rawValue }
}
