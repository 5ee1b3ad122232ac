// SPDX-License-Identifier: Apache-2.0

import YKProtocols
public import YKTransport
import YKWire

extension DeviceIdentity {
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
