// SPDX-License-Identifier: Apache-2.0

/// An application identifier (ISO 7816-4 §8.2.1.2): 5 to 16 bytes that SELECT names.
public struct AID: OpenSet {
    /// The bytes of the identifier.
    public let rawValue: [UInt8]

    /// Wraps an identifier.
    public init(rawValue: [UInt8]) { self.rawValue = rawValue }

    /// Yubico OATH (YKOATH).
    public static let oath = AID(rawValue: [0xA0, 0x00, 0x00, 0x05, 0x27, 0x21, 0x01])
    /// FIDO U2F and CTAP2 over a smart card.
    public static let fido = AID(rawValue: [0xA0, 0x00, 0x00, 0x06, 0x47, 0x2F, 0x00, 0x01])
    /// Yubico OTP slots.
    public static let otp = AID(rawValue: [0xA0, 0x00, 0x00, 0x05, 0x27, 0x20, 0x01])
    /// Yubico device management.
    public static let management = AID(rawValue: [0xA0, 0x00, 0x00, 0x05, 0x27, 0x47, 0x11, 0x17])
    /// PIV (NIST SP 800-73-4).
    public static let piv = AID(rawValue: [0xA0, 0x00, 0x00, 0x03, 0x08])
    /// OpenPGP card.
    public static let openPGP = AID(rawValue: [0xD2, 0x76, 0x00, 0x01, 0x24, 0x01])
    /// YubiHSM Auth.
    public static let hsmAuth = AID(rawValue: [0xA0, 0x00, 0x00, 0x05, 0x27, 0x21, 0x07, 0x01])
    /// GlobalPlatform Security Domain.
    public static let securityDomain = AID(rawValue: [0xA0, 0x00, 0x00, 0x01, 0x51, 0x00, 0x00, 0x00])
    /// NFC Forum Type 4 tag (NDEF).
    public static let ndef = AID(rawValue: [0xD2, 0x76, 0x00, 0x00, 0x85, 0x01, 0x01])
    /// NFC Forum Type 4 tag of mapping version 1.
    public static let ndefVersion1 = AID(rawValue: [0xD2, 0x76, 0x00, 0x00, 0x85, 0x01, 0x00])
    /// CanoKey administration.
    public static let canokeyAdmin = AID(rawValue: [0xF0, 0x00, 0x00, 0x00, 0x00])

    /// The usual name, for identifiers listed here.
    public var name: String? { Self.names[self] }

    /// The usual name, else the bytes in hexadecimal.
    public var description: String { name ?? Hex.encode(rawValue) }

    /// Whether `other` names this application: one is a prefix of the other (ISO 7816-4 §8.2.1.2, partial selection).
    public func matches(_ other: [UInt8]) -> Bool {
        other.count >= 5 && (rawValue.starts(with: other) || other.starts(with: rawValue))
    }

    private static let names: [AID: String] = [
        .oath: "OATH", .fido: "FIDO", .otp: "OTP", .management: "management", .piv: "PIV", .openPGP: "OpenPGP",
        .hsmAuth: "HSM Auth", .securityDomain: "Security Domain", .ndef: "NDEF",
        .ndefVersion1: "NDEF (version 1)", .canokeyAdmin: "CanoKey admin",
    ]
}
