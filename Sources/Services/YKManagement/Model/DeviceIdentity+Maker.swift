// SPDX-License-Identifier: Apache-2.0

import YKTransport

extension DeviceIdentity.Maker {
    /// The vendor of a key with these USB numbers: by the name in the table of known keys, otherwise by the vendor
    /// number; `nil` if neither is known.
    init?(vendor: UInt16, product: UInt16) {
        let named = KnownKeys.name(vendor: vendor, product: product).flatMap { Self(named: $0) }
        guard let maker = named ?? Self.vendors[vendor] else { return nil }
        self = maker
    }

    /// The vendor named in the name of a key, a reader or a device.
    init?(named text: String) {
        let text = text.lowercased()
        guard let maker = Self.names.first(where: { text.contains($0.0) })?.1 else { return nil }
        self = maker
    }

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
    /// TrustKey, formerly eWBM.
    public static let trustKey = Self(rawValue: "TrustKey")
    /// GoTrust.
    public static let goTrust = Self(rawValue: "GoTrust")
    /// Excelsecu, which also makes Thetis keys.
    public static let excelsecu = Self(rawValue: "Excelsecu")
    /// Hypersecu.
    public static let hypersecu = Self(rawValue: "Hypersecu")
    /// Ledger.
    public static let ledger = Self(rawValue: "Ledger")
    /// Trezor.
    public static let trezor = Self(rawValue: "Trezor")

    private static let vendors: [UInt16: Self] = [
        0x1050: .yubico, 0x349E: .token2, 0x096E: .feitian, 0x18D1: .google, 0x311F: .trustKey, 0x2C97: .ledger,
        0x534C: .trezor, 0x3752: .arculus, 0x1FC9: .goTrust, 0x32A3: .goTrust, 0x1EA8: .excelsecu, 0x2CCF: .hypersecu,
    ]

    private static let names: [(String, Self)] = [
        ("yubi", .yubico), ("canokey", .canokey), ("nitrokey", .nitrokey), ("solo", .soloKeys), ("token2", .token2),
        ("arculus", .arculus), ("feitian", .feitian), ("titan", .google), ("gotrust", .goTrust),
        ("trustkey", .trustKey),
        ("ledger", .ledger), ("trezor", .trezor), ("thetis", .excelsecu), ("excelsecu", .excelsecu),
        ("hypersecu", .hypersecu), ("safekey", .init(rawValue: "Safetech")),
        ("onlykey", .init(rawValue: "CryptoTrust")), ("u2f zero", .init(rawValue: "U2F Zero")),
        ("kensington", .init(rawValue: "Kensington")),
    ]
}
