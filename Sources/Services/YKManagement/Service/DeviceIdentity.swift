// SPDX-License-Identifier: Apache-2.0

import YKProtocols
public import YKTransport
public import YKWire

/// The vendor and model of a key, for a list of attached keys.
public struct DeviceIdentity: Hashable, Sendable {
    /// A vendor of keys.
    public struct Maker: OpenSet {
        /// The vendor's name.
        public let rawValue: String
        /// Wraps a name.
        public init(rawValue: String) { self.rawValue = rawValue }
        /// Yubico.
        public static let yubico = Maker(rawValue: "Yubico")
        /// CanoKeys.
        public static let canokey = Maker(rawValue: "CanoKey")
        /// An unknown vendor.
        public static let unknown = Maker(rawValue: "unknown")
    }

    /// The vendor.
    public var maker: Maker
    /// The product name.
    public var product: String
    /// The firmware as reported; `nil` if it is not.
    public var firmware: String?
    /// The firmware as numbers, if it begins with three.
    public var version: FirmwareVersion?
    /// The serial number as printed: decimal for Yubico, hexadecimal for others.
    public var serial: String?
    /// A YubiKey's device information.
    public var info: DeviceInfo?
    /// Why the device information, or its later pages, could not be read.
    public var problem: ManagementError?

    /// Creates an identity.
    public init(
        maker: Maker, product: String, firmware: String? = nil, serial: String? = nil, info: DeviceInfo? = nil
    ) {
        self.maker = maker
        self.product = product
        self.firmware = firmware
        self.serial = serial
        self.info = info
        version =
            info?.version
            ?? firmware.flatMap { FirmwareVersion($0.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }) }
    }
}

extension DeviceIdentity: CustomStringConvertible {
    /// Product, firmware and serial number.
    public var description: String {
        [product, firmware, serial.map { "serial \($0)" }].compactMap(\.self).joined(separator: ", ")
    }
}

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

extension DeviceIdentity {
    /// Creates an identity from the numbers and the name of a USB device; sends nothing.
    public init(vendor: UInt16, product: UInt16, name: String) {
        let maker = Maker(vendor: vendor, product: product) ?? Maker(named: name)
        let known = KnownKeys.name(vendor: vendor, product: product)
        let fallback = maker.map { "\($0.rawValue) security key" } ?? "Security key"
        // A YubiKey's own name is more specific than its numbers.
        let isYubico = maker == .yubico && !name.isEmpty
        self.init(maker: maker ?? .unknown, product: (isYubico ? nil : known) ?? (name.isEmpty ? fallback : name))
    }

    /// Reads a YubiKey's device information over its FIDO interface; a key of another vendor is identified by its
    /// numbers, and its firmware by the reply when the link was opened.
    public static func read(
        fido link: sending any FIDOLink, _ device: ReportIdentity
    ) throws(ManagementError) -> DeviceIdentity {
        var identity = DeviceIdentity(vendor: device.vendor, product: device.product, name: device.name)
        guard identity.maker == .yubico else {
            identity.firmware = link.profile.deviceVersion.map(\.description)
            identity.version = link.profile.deviceVersion
            return identity
        }
        let product = USBProduct(vendor: device.vendor, product: device.product)
        return try read(ManagementSession(link, product: product))
    }

    /// Reads a YubiKey's device information over its OTP interface.
    public static func read(
        otp link: sending any OTPLink, _ device: ReportIdentity
    ) throws(ManagementError) -> DeviceIdentity {
        let product = USBProduct(vendor: device.vendor, product: device.product)
        return try read(ManagementSession(otp: link, product: product))
    }

    /// Reads the management application, then CanoKey's administration application; a card with neither is of an
    /// unknown vendor. At most five exchanges for a YubiKey or CanoKey from the last ten years.
    ///
    /// An unexpected answer from the card is not thrown: it becomes the ``problem`` of an identity that has the rest.
    ///
    /// - Throws: `nfcRestricted` for a YubiKey on a contactless reader whose NFC is disabled until it is powered over
    ///   USB; failures of the link.
    public static func read(_ channel: CardChannel) throws(ManagementError) -> DeviceIdentity {
        var problem: ManagementError?
        do throws(ManagementError) {
            return try read(ManagementSession(channel))
        } catch {
            if error.isAnswer {
                problem = error
            } else {
                guard case .card(let cause) = error, cause.isAbsence else { throw error }
            }
        }
        if problem != nil, channel.identity.isYubiKey { return DeviceIdentity(problem: problem) }
        do throws(CardError) { return try canokey(channel) } catch {
            guard error.isAbsence || ManagementError.card(error).isAnswer else { throw .card(error) }
        }
        var identity = try nonYubico(channel)
        identity.problem = problem
        return identity
    }

    /// Reads the device information of a YubiKey whose management application answers; if the answer is unexpected, the
    /// identity has only the version.
    static func read(_ session: ManagementSession) throws(ManagementError) -> DeviceIdentity {
        do throws(ManagementError) {
            var problem: ManagementError?
            var identity = DeviceIdentity(try session.deviceInfo { problem = $0 })
            identity.problem = problem
            return identity
        } catch {
            guard error.isAnswer || error.isUnrecorded else { throw error }
            return DeviceIdentity(version: session.version, problem: error)
        }
    }

    /// A YubiKey that does not report its device information.
    private init(version: FirmwareVersion? = nil, problem: ManagementError?) {
        self.init(maker: .yubico, product: "YubiKey", firmware: version?.description)
        self.problem = problem
    }

    /// A card with neither application; the name of its reader may identify it.
    private static func nonYubico(_ channel: CardChannel) throws(ManagementError) -> DeviceIdentity {
        if (try? NFCRestriction.isActive(channel)) ?? false { throw .nfcRestricted }
        let reader = channel.identity.reader
        guard let maker = DeviceIdentity.Maker(named: reader), maker != .yubico else {
            return DeviceIdentity(maker: .unknown, product: "Smart card")
        }
        return DeviceIdentity(maker: maker, product: reader)
    }

    /// A YubiKey.
    init(_ info: DeviceInfo) {
        self.init(
            maker: .yubico, product: info.productName, firmware: info.versionText,
            serial: info.serial.map { "\($0)" }, info: info)
    }

    /// CanoKey's administration application: INS 31 gives version (P1 0) and variant (P1 1) as text, INS 32 the serial
    /// number (canokey-core 3.0).
    private static func canokey(_ channel: CardChannel) throws(CardError) -> DeviceIdentity {
        _ = try channel.select(.canokeyAdmin)
        let firmware = try text(channel, APDU(ins: CanoKeyProtocol.Instruction.readVersion, p1: 0, le: .bytes(32)))
        let product = try text(channel, APDU(ins: CanoKeyProtocol.Instruction.readVersion, p1: 1, le: .bytes(32)))
        let serial = try recorded { () throws(CardError) in
            try channel.transmit(APDU(ins: CanoKeyProtocol.Instruction.readSerial))
        }
        return DeviceIdentity(
            maker: .canokey, product: product ?? "CanoKey", firmware: firmware,
            serial: serial.flatMap {
                $0.status == .ok && !$0.data.isEmpty ? Hex.encode($0.data.prefix(16)) : nil
            })
    }

    /// The card's answer; `nil` if a recording lacks it.
    private static func recorded(
        _ body: () throws(CardError) -> ResponseAPDU
    ) throws(CardError) -> ResponseAPDU? {
        do { return try body() } catch {
            guard case .link(.replay) = error else { throw error }
            return nil
        }
    }

    /// The reply as text, if it is at most 64 bytes and printable.
    private static func text(_ channel: CardChannel, _ command: APDU) throws(CardError) -> String? {
        guard let reply = try recorded({ () throws(CardError) in try channel.transmit(command) }) else { return nil }
        guard reply.status == .ok, (1...64).contains(reply.data.count) else { return nil }
        guard reply.data.allSatisfy({ (0x20...0x7E).contains($0) }) else { return nil }
        return String(decoding: reply.data, as: UTF8.self)
    }
}

extension CardError {
    /// Whether an application is missing, or a recording does not show it.
    fileprivate var isAbsence: Bool {
        switch self {
        case .appletMissing, .link(.replay): true
        default: false
        }
    }
}
