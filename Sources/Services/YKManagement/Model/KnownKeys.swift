// SPDX-License-Identifier: Apache-2.0

/// Keys by their USB numbers (usb.ids, udev rules of libfido2), and makers by the names that readers have.
enum KnownKeys {
    /// What is sold under a pair of USB numbers.
    struct Key: Hashable {
        let maker: DeviceIdentity.Maker
        let product: String
    }

    /// Looks numbers up: the very product, else the maker; `nil` when neither is known.
    static func key(vendor: UInt16, product: UInt16) -> Key? {
        if let name = products[UInt32(vendor) << 16 | UInt32(product)] { return Key(maker: name.0, product: name.1) }
        return vendors[vendor].map { Key(maker: $0, product: "\($0.rawValue) security key") }
    }

    /// The maker whose name is in the name of a reader or device.
    static func maker(named text: String) -> DeviceIdentity.Maker? {
        let text = text.lowercased()
        return names.first { text.contains($0.0) }?.1
    }

    private static let vendors: [UInt16: DeviceIdentity.Maker] = [
        0x1050: .yubico, 0x349E: .token2, 0x096E: .feitian, 0x18D1: .google, 0x311F: .trustKey, 0x2C97: .ledger,
        0x534C: .trezor, 0x3752: .arculus, 0x1FC9: .goTrust, 0x32A3: .goTrust, 0x1EA8: .excelsecu, 0x2CCF: .hypersecu,
    ]

    private static let products: [UInt32: (DeviceIdentity.Maker, String)] = [
        0x20A0_42D4: (.canokey, "CanoKey"), 0x20A0_4108: (.nitrokey, "Nitrokey Pro"),
        0x20A0_4109: (.nitrokey, "Nitrokey Storage"), 0x20A0_4211: (.nitrokey, "Nitrokey Start"),
        0x20A0_4230: (.nitrokey, "Nitrokey HSM"), 0x20A0_4287: (.nitrokey, "Nitrokey FIDO U2F"),
        0x20A0_42B1: (.nitrokey, "Nitrokey FIDO2"), 0x20A0_42B2: (.nitrokey, "Nitrokey 3"),
        0x20A0_42B3: (.init(rawValue: "Safetech"), "SafeKey"), 0x20A0_42F3: (.nitrokey, "Nitrokey Passkey"),
        0x1209_BEEE: (.soloKeys, "Solo 2"), 0x1209_5070: (.soloKeys, "Solo Hacker"),
        0x1209_50B0: (.soloKeys, "Solo, boot loader"), 0x0483_A2CA: (.soloKeys, "Solo"),
        0x1209_53C1: (.trezor, "Trezor"), 0x534C_0001: (.trezor, "Trezor One"), 0x18D1_5026: (.google, "Titan"),
        0x096E_0858: (.feitian, "ePass FIDO"), 0x1D50_60FC: (.init(rawValue: "CryptoTrust"), "OnlyKey"),
        0x3752_0001: (.arculus, "Arculus AuthentiKey"), 0x10C4_8ACF: (.init(rawValue: "U2F Zero"), "U2F Zero"),
        0x1FC9_F143: (.goTrust, "Idem Key"), 0x32A3_3201: (.goTrust, "Idem Key"),
        0x1EA8_F025: (.excelsecu, "Thetis Key"), 0x06CB_0088: (.init(rawValue: "Kensington"), "VeriMark"),
    ]

    private static let names: [(String, DeviceIdentity.Maker)] = [
        ("yubi", .yubico), ("canokey", .canokey), ("nitrokey", .nitrokey), ("solo", .soloKeys), ("token2", .token2),
        ("arculus", .arculus), ("feitian", .feitian), ("titan", .google), ("gotrust", .goTrust),
        ("trustkey", .trustKey),
        ("ledger", .ledger), ("trezor", .trezor),
    ]
}

extension DeviceIdentity.Maker {
    /// Nitrokey.
    public static let nitrokey = Self(rawValue: "Nitrokey")
    /// SoloKeys.
    public static let soloKeys = Self(rawValue: "SoloKeys")
    /// Token2.
    public static let token2 = Self(rawValue: "Token2")
    /// Arculus.
    public static let arculus = Self(rawValue: "Arculus")
    /// Feitian.
    public static let feitian = Self(rawValue: "Feitian")
    /// Google.
    public static let google = Self(rawValue: "Google")
    /// TrustKey, once eWBM.
    public static let trustKey = Self(rawValue: "TrustKey")
    /// GoTrust.
    public static let goTrust = Self(rawValue: "GoTrust")
    /// Excelsecu, which also makes Thetis.
    public static let excelsecu = Self(rawValue: "Excelsecu")
    /// Hypersecu.
    public static let hypersecu = Self(rawValue: "Hypersecu")
    /// Ledger.
    public static let ledger = Self(rawValue: "Ledger")
    /// Trezor.
    public static let trezor = Self(rawValue: "Trezor")
}
