// SPDX-License-Identifier: Apache-2.0

/// A command of the Yubico OTP application: the slot byte of a frame over HID, P1 over a card.
public struct OTPCommand: OpenSet {
    /// The byte on the wire.
    public let rawValue: UInt8

    /// Wraps a byte.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Writes slot 1.
    public static let configure1 = OTPCommand(rawValue: 0x01)
    /// Writes slot 2.
    public static let configure2 = OTPCommand(rawValue: 0x03)
    /// Updates the settings of slot 1.
    public static let update1 = OTPCommand(rawValue: 0x04)
    /// Updates the settings of slot 2.
    public static let update2 = OTPCommand(rawValue: 0x05)
    /// Swaps the slots.
    public static let swap = OTPCommand(rawValue: 0x06)
    /// Writes the NDEF record that is followed by slot 1's token.
    public static let ndef1 = OTPCommand(rawValue: 0x08)
    /// Writes the NDEF record that is followed by slot 2's token.
    public static let ndef2 = OTPCommand(rawValue: 0x09)
    /// Reads the serial number.
    public static let serial = OTPCommand(rawValue: 0x10)
    /// Writes the mode of the USB interfaces (NEO and 4).
    public static let deviceMode = OTPCommand(rawValue: 0x11)
    /// Writes the scan codes for the sixteen modhex letters and the other keys.
    public static let scanCodeMap = OTPCommand(rawValue: 0x12)
    /// Reads a page of device information.
    public static let deviceInfo = OTPCommand(rawValue: 0x13)
    /// Checks whether a series 4 FIPS key is in its approved mode.
    public static let fipsMode = OTPCommand(rawValue: 0x14)
    /// Writes device information.
    public static let setDeviceInfo = OTPCommand(rawValue: 0x15)
    /// Computes a Yubico OTP block from a six-byte challenge with slot 1.
    public static let challengeOTP1 = OTPCommand(rawValue: 0x20)
    /// Computes a Yubico OTP block from a six-byte challenge with slot 2.
    public static let challengeOTP2 = OTPCommand(rawValue: 0x28)
    /// Computes the HMAC-SHA-1 of a challenge of up to 64 bytes with slot 1.
    public static let challengeHMAC1 = OTPCommand(rawValue: 0x30)
    /// Computes the HMAC-SHA-1 of a challenge of up to 64 bytes with slot 2.
    public static let challengeHMAC2 = OTPCommand(rawValue: 0x38)

    /// The command in a few words.
    public var description: String { Self.names[self] ?? "slot command \(Hex.encode([rawValue]))" }

    /// Whether the command writes, and so advances the programming sequence, instead of returning data.
    public var isWrite: Bool {
        switch self {
        case .configure1, .configure2, .update1, .update2, .swap, .ndef1, .ndef2, .deviceMode, .scanCodeMap,
            .setDeviceInfo:
            true
        default: false
        }
    }

    private static let names: [OTPCommand: String] = [
        .configure1: "configure slot 1", .configure2: "configure slot 2", .update1: "update slot 1",
        .update2: "update slot 2", .swap: "swap the slots", .ndef1: "NDEF of slot 1", .ndef2: "NDEF of slot 2",
        .serial: "serial number", .deviceMode: "device mode", .scanCodeMap: "scan-code map",
        .deviceInfo: "device info", .fipsMode: "FIPS mode", .setDeviceInfo: "set device info",
        .challengeOTP1: "Yubico OTP challenge to slot 1", .challengeOTP2: "Yubico OTP challenge to slot 2",
        .challengeHMAC1: "HMAC challenge to slot 1", .challengeHMAC2: "HMAC challenge to slot 2",
    ]
}
