// SPDX-License-Identifier: Apache-2.0

import YKWire

/// What product is played.
public enum DeviceModel: String, Hashable, Sendable, CaseIterable {
    /// A YubiKey with all its applications; its FIDO model number is a virtual key's own.
    case yubiKey = "yubikey"
    /// An Arculus card, "Arculus FIDO2/U2F Key Card": CTAP 2.0, PIN protocol 1, U2F.
    case arculus = "arculus"
    /// An Arculus card with NXP's P71, "Arculus FIDO 2.1 Key Card [P71]": CTAP 2.1 without U2F.
    case arculusP71 = "arculus-p71"

    /// Whether it is a card for contactless readers that has a FIDO application and nothing else: no touch, as to be
    /// held to the reader is what shows presence.
    public var isCard: Bool { self != .yubiKey }

    /// The number of the model (public AAGUID lists).
    package var aaguid: [UInt8] {
        switch self {
        case .yubiKey:
            [0x79, 0x6B, 0x69, 0x74, 0x2D, 0x76, 0x4B, 0x65, 0x80, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x01]
        case .arculus:
            [0x9D, 0x3D, 0xF6, 0xBA, 0x28, 0x2F, 0x11, 0xED, 0xA2, 0x61, 0x02, 0x42, 0xAC, 0x12, 0x00, 0x02]
        case .arculusP71:
            [0x3F, 0x59, 0x67, 0x2F, 0x20, 0xAA, 0x4A, 0xFE, 0xB6, 0xF4, 0x7E, 0x5E, 0x91, 0x6B, 0x6D, 0x98]
        }
    }

    /// Whether it speaks U2F.
    var hasU2F: Bool { self != .arculusP71 }
    /// How it can be reached, as getInfo says it.
    var transports: CBOR { isCard ? ["nfc"] : ["usb", "nfc"] }

    /// The answer to reset of a contactless card without historical bytes (PC/SC part 3 §3.1.3.2.3.1). That of a real
    /// Arculus card is not published.
    static let contactless: [UInt8] = [0x3B, 0x80, 0x80, 0x01, 0x01]
}

extension DeviceProfile {
    /// The usual profile of a model.
    public init(model: DeviceModel, serial: UInt32) {
        self.init(serial: serial)
        guard model.isCard else { return }
        self.model = model
        transport = .nfc
        fido = FIDOFeatures(version: model == .arculus ? .v20 : .v21, enterpriseRelyingParties: [])
    }
}
