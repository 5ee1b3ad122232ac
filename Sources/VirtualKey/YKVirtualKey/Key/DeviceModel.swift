// SPDX-License-Identifier: Apache-2.0

public import YKTransport
import YKWire

/// The emulated product.
public enum DeviceModel: String, Hashable, Sendable, CaseIterable {
    /// A YubiKey 5 with all its applications; its AAGUID is that of a virtual key.
    case yubiKey = "yubikey"
    /// A YubiKey NEO, firmware 3.5.0: U2F, no CTAP2.
    case neo
    /// A YubiKey 4, firmware 4.3.7: U2F, no CTAP2, no NFC.
    case yubiKey4 = "yubikey4"
    /// A YubiKey 4 FIPS, firmware 4.4.5: U2F with its own PIN.
    case yubiKey4FIPS = "yubikey4-fips"
    /// A YubiKey 5 FIPS, firmware 5.7.4: requires complex PINs, and accepts keys only after the defaults were changed.
    case yubiKey5FIPS = "yubikey5-fips"
    /// A YubiKey Bio with FIDO and PIV, firmware 5.7.1.
    case yubiKeyBio = "yubikey-bio"
    /// A Security Key with NFC, firmware 5.7.1: FIDO only.
    case securityKey = "security-key"
    /// An Arculus card, "Arculus FIDO2/U2F Key Card": CTAP 2.0, PIN protocol 1, U2F.
    case arculus = "arculus"
    /// An Arculus card with NXP's P71, "Arculus FIDO 2.1 Key Card [P71]": CTAP 2.1 without U2F.
    case arculusP71 = "arculus-p71"
    /// An OpenPGP card 3.4 without any of Yubico's additions or applications.
    case openPGP = "openpgp"
    /// A Gnuk token 1.2 as an OpenPGP card, with a number of its own: no admin PIN until one is set.
    case gnuk
    /// A Nitrokey 3 with FIDO and its Secrets application.
    case nitrokey3

    /// Whether it is a contactless card with only a FIDO application: it has no touch sensor, since holding it to the
    /// reader proves presence.
    public var isCard: Bool { self == .arculus || self == .arculusP71 }

    /// The applications of a card; `nil` for a key, whose applications can be enabled and disabled.
    var applets: [any Applet.Type]? {
        switch self {
        case .arculus, .arculusP71: [FIDOApplet.self]
        case .openPGP, .gnuk: [OpenPGPApplet.self]
        case .nitrokey3: [SecretsApplet.self, FIDOApplet.self]
        default: nil
        }
    }

    /// Its USB product and its applications over USB; `nil` for a YubiKey, for which they depend on firmware and
    /// interfaces.
    var usb: (vendor: UInt16, product: UInt16, maker: String, name: String, applications: UInt32)? {
        guard self == .nitrokey3 else { return nil }
        return (0x20A0, 0x42B2, "Nitrokey", "Nitrokey 3", VirtualCapability.u2f | VirtualCapability.fido2)
    }

    /// Its answer to reset; `nil` for a YubiKey, for which it depends on firmware and transport.
    var atr: [UInt8]? {
        switch self {
        case .arculus, .arculusP71: Self.contactless
        case .openPGP: Self.openPGPCard
        case .gnuk: Self.gnukToken
        case .nitrokey3: Self.nitrokey
        default: nil
        }
    }

    /// The name of its reader.
    var reader: String {
        switch self {
        case .arculus, .arculusP71: "ykit virtual contactless reader"
        case .openPGP, .gnuk: "ykit virtual card reader"
        case .nitrokey3: "ykit virtual Nitrokey 3"
        default: VirtualKey.readerName
        }
    }

    /// Whether it is a contact card without USB or contactless interfaces.
    public var isContactCard: Bool { self == .openPGP || self == .gnuk }

    /// The AAGUID (public AAGUID lists).
    package var aaguid: [UInt8] {
        switch self {
        case .yubiKey, .neo, .yubiKey4, .yubiKey4FIPS, .yubiKey5FIPS, .yubiKeyBio, .securityKey, .openPGP, .gnuk,
            .nitrokey3:
            [0x79, 0x6B, 0x69, 0x74, 0x2D, 0x76, 0x4B, 0x65, 0x80, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x01]
        case .arculus:
            [0x9D, 0x3D, 0xF6, 0xBA, 0x28, 0x2F, 0x11, 0xED, 0xA2, 0x61, 0x02, 0x42, 0xAC, 0x12, 0x00, 0x02]
        case .arculusP71:
            [0x3F, 0x59, 0x67, 0x2F, 0x20, 0xAA, 0x4A, 0xFE, 0xB6, 0xF4, 0x7E, 0x5E, 0x91, 0x6B, 0x6D, 0x98]
        }
    }

    /// Whether it supports U2F.
    var hasU2F: Bool { self != .arculusP71 }

    /// The answer to reset of a contactless card without historical bytes (PC/SC part 3 §3.1.3.2.3.1). The real Arculus
    /// card's is not published.
    private static let contactless: [UInt8] = [0x3B, 0x80, 0x80, 0x01, 0x01]

    /// The answer to reset of a Nitrokey 3 (nitrokey-sdk-py): its name in the historical bytes.
    private static let nitrokey: [UInt8] =
        [0x3B, 0x8F, 0x01, 0x80, 0x5D] + Array("Nitrokey".utf8) + [0, 0, 0, 0, 0, 0x6A]

    /// The answer to reset of a Gnuk token, as recorded: T=1, and its historical bytes.
    private static let gnukToken: [UInt8] = [
        0x3B, 0xDA, 0x11, 0xFF, 0x81, 0xB1, 0xFE, 0x55, 0x1F, 0x03, 0x00, 0x31, 0x84, 0x73, 0x80, 0x01, 0x80, 0x05,
        0x90, 0x00, 0xE1,
    ]

    /// The answer to reset of an OpenPGP card with contacts: T=1, and the card's historical bytes.
    private static let openPGPCard: [UInt8] = [
        0x3B, 0xDA, 0x18, 0xFF, 0x81, 0xB1, 0xFE, 0x75, 0x1F, 0x03, 0x00, 0x31, 0xF5, 0x73, 0xC0, 0x01, 0x60, 0x00,
        0x90,
        0x00, 0x1C,
    ]
}

extension DeviceProfile {
    /// The default profile of a model.
    public init(model: DeviceModel, serial: UInt32) {
        self.init(serial: serial)
        self.model = model
        switch model {
        case .yubiKey, .openPGP, .gnuk, .nitrokey3: break
        case .neo: version = FirmwareVersion(3, 5, 0)
        case .yubiKey4: version = FirmwareVersion(4, 3, 7)
        case .yubiKey4FIPS: version = FirmwareVersion(4, 4, 5)
        case .yubiKey5FIPS:
            version = FirmwareVersion(5, 7, 4)
            formFactor = 0x81
        case .yubiKeyBio:
            formFactor = 0x06
            fido.hasFingerprints = true
        case .securityKey: formFactor = 0x41
        case .arculus, .arculusP71:
            transport = .nfc
            fido = FIDOFeatures(version: model == .arculus ? .v20 : .v21, enterpriseRelyingParties: [])
        }
        if !model.isCard { fido.version = FIDOFeatures.Version(of: version) }
    }

    /// Its transports, as in getInfo. From firmware 5.8 on the smart card on USB has the FIDO application too.
    var transports: CBOR {
        if model.isCard { return ["nfc"] }
        let usb: [CBOR] = isFirmware58 ? ["usb", "smart-card"] : ["usb"]
        return .array(hasNFC ? usb + ["nfc"] : usb)
    }
    /// Whether the FIDO application is a YubiKey's, which depends on the firmware.
    private var isYubico: Bool { !model.isCard && model != .nitrokey3 }
    /// Whether it speaks the preview of CTAP 2.1 beside a later version, as YubiKeys do.
    var keepsPreview: Bool { isYubico }
    /// The PIN/UV auth protocols by number, the preferred one first. YubiKeys with the preview have the second from 5.4 on.
    var pinProtocols: [UInt64] {
        switch fido.version {
        case .v20: [1]
        case .v21Pre where version < FirmwareVersion(5, 4, 0): [1]
        default: [2, 1]
        }
    }
    /// The algorithms of credentials, most preferred first. YubiKeys have EdDSA from firmware 5.2 on, and more from 5.7 on.
    var fidoAlgorithms: [COSEAlgorithm] {
        guard isYubico else { return FIDOAuthenticator.algorithms }
        return switch version {
        case ..<FirmwareVersion(5, 2, 0): [.es256]
        case ..<FirmwareVersion(5, 7, 0): [.es256, .edDSA]
        default: FIDOAuthenticator.algorithms
        }
    }
    /// How many discoverable credentials it can store; a YubiKey 100 from firmware 5.7 on.
    var credentialLimit: Int { isYubico && version < FirmwareVersion(5, 7, 0) ? 25 : 100 }
    /// The attestation formats that a host can choose from; firmware 5.8 supports no other.
    var attestationFormats: [String] { isFirmware58 ? ["packed"] : ["packed", "none"] }
    /// The transports as bits of an attestation certificate: USB 20, NFC 10.
    var attestedTransports: UInt8 { model.isCard ? 0x10 : hasNFC ? 0x30 : 0x20 }
}

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
