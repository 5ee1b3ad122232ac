// SPDX-License-Identifier: Apache-2.0

public import YKTransport

/// The emulated kind of key: every property that a user cannot change.
public struct DeviceProfile: Hashable, Sendable {
    /// How the key is connected, which determines its answer to reset.
    public enum Transport: String, Hashable, Sendable, CaseIterable {
        /// A USB port.
        case usb
        /// A contactless reader.
        case nfc
    }

    /// The product.
    public var model = DeviceModel.yubiKey
    /// The firmware version; the key refuses what a real key of that version does not support.
    public var version: FirmwareVersion
    /// The serial number, printed on the back of a real key.
    public var serial: UInt32
    /// The form factor code (Yubico management, tag 04): 1 is a USB-A keychain key.
    public var formFactor: UInt8
    /// How the key is connected.
    public var transport: Transport
    /// The features of its FIDO application.
    public var fido: FIDOFeatures

    /// Creates a profile; by default the FIDO application has the CTAP version of the firmware.
    public init(
        version: FirmwareVersion = FirmwareVersion(5, 7, 1), serial: UInt32, formFactor: UInt8 = 1,
        transport: Transport = .usb,
        fido: FIDOFeatures? = nil
    ) {
        self.version = version
        self.serial = serial
        self.formFactor = formFactor
        self.transport = transport
        self.fido = fido ?? FIDOFeatures(version: FIDOFeatures.Version(of: version))
    }

    /// The answer to reset of a real key of this version, connected as ``transport`` says.
    public var atr: [UInt8] { atr(onReader: transport == .nfc) }

    /// The answer to reset of a real key of this version, in a port or on a contactless reader.
    package func atr(onReader isOnReader: Bool) -> [UInt8] {
        if let atr = model.atr { return atr }
        if isOnReader { return Self.contactless }
        return switch version.major {
        case ...3: Self.neo
        case 4: Self.four
        default: Self.five
        }
    }

    /// The USB vendor number, by default Yubico's.
    package var vendor: UInt16 { model.usb?.vendor ?? 0x1050 }
    /// The USB device release number: major and minor version, binary-coded decimal.
    package var release: UInt16 {
        UInt16(version.major % 10) << 8 | UInt16(version.minor % 10) << 4 | UInt16(version.patch % 10)
    }

    /// The maximum size of a command APDU for a key of this version, in bytes.
    package var commandLimit: Int {
        switch version {
        case ..<FirmwareVersion(4, 0, 0): 1390
        case ..<FirmwareVersion(4, 3, 0): 2038
        default: 3062
        }
    }

    /// The maximum size of a command's data, reassembled from its parts, in bytes (yubico-piv-tool).
    package var messageLimit: Int { version.major < 4 ? 2048 : 3072 }

    private static let five: [UInt8] = [
        0x3B, 0xFD, 0x13, 0x00, 0x00, 0x81, 0x31, 0xFE, 0x15, 0x80, 0x73, 0xC0, 0x21, 0xC0, 0x57, 0x59, 0x75, 0x62,
        0x69, 0x4B, 0x65, 0x79, 0x40,
    ]
    /// The answer to reset that a contactless reader constructs for a key (PC/SC part 3 §3.1.3.2.3.1).
    private static let contactless: [UInt8] = [
        0x3B, 0x8D, 0x80, 0x01, 0x80, 0x73, 0xC0, 0x21, 0xC0, 0x57, 0x59, 0x75, 0x62, 0x69, 0x4B, 0x65, 0x79, 0xF9,
    ]
    private static let four: [UInt8] = [
        0x3B, 0xF8, 0x13, 0x00, 0x00, 0x81, 0x31, 0xFE, 0x15, 0x59, 0x75, 0x62, 0x69, 0x6B, 0x65, 0x79, 0x34, 0xD4,
    ]
    private static let neo: [UInt8] = [
        0x3B, 0xFC, 0x13, 0x00, 0x00, 0x81, 0x31, 0xFE, 0x15, 0x59, 0x75, 0x62, 0x69, 0x6B, 0x65, 0x79, 0x4E, 0x45,
        0x4F, 0x72, 0x33, 0xE1,
    ]
}
