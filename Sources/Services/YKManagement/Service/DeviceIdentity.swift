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

/// Probes a key that is older than READ CONFIG.
enum OlderKey {
    /// U2F of early firmware.
    private static let oldU2F = AID(rawValue: [0xA0, 0x00, 0x00, 0x05, 0x27, 0x10, 0x02])
    private static let applications: [(AID, Capability)] = [
        (.fido, .u2f), (oldU2F, .u2f), (.piv, .piv), (.openPGP, .openPGP), (.oath, .oath),
    ]

    /// Selects one application after another; the serial number is read from the OTP application. `skipping` is called
    /// with the error of a question without which the others are still asked.
    static func info(
        _ channel: CardChannel, version: FirmwareVersion, _ skipping: (CardError) throws(ManagementError) -> Void
    ) throws(ManagementError) -> DeviceInfo {
        var found: Capability = []
        var serial: UInt32?
        func asked<Value>(_ question: () throws(CardError) -> Value) throws(ManagementError) -> Value? {
            do { return try question() } catch {
                try skipping(error)
                return nil
            }
        }
        if try asked({ () throws(CardError) in try channel.has(.otp) }) == true {
            found.insert(.otp)
            serial = try asked { () throws(CardError) in try self.serial(channel) } ?? nil
        }
        for (aid, capability) in applications
        where try asked({ () throws(CardError) in try channel.has(aid) }) == true { found.insert(capability) }
        if version >= FirmwareVersion(3, 3, 0) { found.insert(.u2f) }
        var info = DeviceInfo(version: version, usb: found)
        if version.major == 3 { info.nfc = info.usb }
        info.serial = serial
        info.isSynthesized = true
        return info
    }

    /// The serial number of the selected OTP application (slot command 10), if it is readable.
    private static func serial(_ channel: CardChannel) throws(CardError) -> UInt32? {
        let reply = try channel.transmit(APDU(ins: OTPProtocol.Instruction.slot, p1: OTPCommand.serial.rawValue))
        guard reply.status == .ok, reply.data.count == 4 else { return nil }
        let serial = reply.data.reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        return serial == 0 ? nil : serial
    }
}

/// The FIPS mode of a YubiKey FIPS of the 4 series, which its U2F application reports.
public enum FIPSMode {
    /// Returns whether it is on (vendor instruction 46 of U2F): 9000 for yes, 6A81 for no.
    ///
    /// - Throws: `card(.status)` for any other answer.
    public static func isOn(_ link: sending any FIDOLink) throws(ManagementError) -> Bool {
        let reply: [UInt8]
        do {
            reply = try link.call(
                .msg, [0x00, FIDOProtocol.Instruction.fipsMode, 0x00, 0x00, 0x00, 0x00, 0x00],
                deadline: link.environment.deadline(),
                keepalive: { _ in })
        } catch {
            throw .fido(error, during: "VERIFY FIPS MODE")
        }
        let answer = try lift({ ManagementError.malformed($0, during: "VERIFY FIPS MODE") }) { () throws(WireError) in
            try ResponseAPDU(decoding: reply)
        }
        switch answer.status {
        case .ok: return true
        case .functionNotSupported: return false
        default: throw .card(.status(answer.status, during: "VERIFY FIPS MODE"))
        }
    }
}

/// The NFC restriction of a YubiKey (firmware 5.7 and later): until it has been powered over USB, a contactless reader
/// sees only a tag that links to yubico.com/getting-started.
public enum NFCRestriction {
    /// The length of the message and the message (ykman 5.9.2, `is_nfc_restricted`).
    private static let file: [UInt8] = [0x00, 0x1F, 0xD1, 0x01, 0x1B, 0x55, 0x04] + "yubico.com/getting-started".utf8

    /// Returns whether the card on a contactless reader is a key in that state, by reading its tag. False for a card
    /// with contacts, to which nothing is sent, and for one with another tag. Throws if the link fails.
    public static func isActive(_ channel: CardChannel) throws(CardError) -> Bool {
        guard (try? ATR(decoding: channel.identity.atr))?.contactless != nil else { return false }
        do throws(CardError) {
            _ = try channel.select(.ndef)
            let selected = try channel.transmit(APDU(ins: ISO7816.select, p2: 0x0C, data: [0xE1, 0x04]))
            guard selected.status == .ok else { return false }
            return try channel.transmit(APDU(ins: ISO7816.readBinary, le: .bytes(UInt16(file.count)))).data == file
        } catch {
            guard case .link = error else { return false }
            throw error
        }
    }
}

extension CardChannel {
    /// Returns whether an application exists, and selects it. Throws if the link fails.
    package func has(_ application: AID) throws(CardError) -> Bool {
        do throws(CardError) {
            _ = try select(application)
            return true
        } catch {
            switch error {
            case .appletMissing, .status: return false
            default: throw error
            }
        }
    }
}
