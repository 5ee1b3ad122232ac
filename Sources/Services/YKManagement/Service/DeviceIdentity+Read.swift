// SPDX-License-Identifier: Apache-2.0

public import YKTransport
import YKWire

extension DeviceIdentity {
    /// Asks the management application, then CanoKey's administration application; a card that has neither is of an
    /// unknown maker. At most five exchanges for a YubiKey or CanoKey from the last ten years.
    ///
    /// Throws `nfcRestricted` for a YubiKey on a contactless reader that says nothing until it was in a USB port.
    public static func read(_ channel: CardChannel) throws(ManagementError) -> DeviceIdentity {
        do throws(ManagementError) {
            return DeviceIdentity(try ManagementSession(channel).deviceInfo())
        } catch {
            guard case .card(.appletMissing) = error else { throw error }
        }
        do throws(CardError) { return try canokey(channel) } catch {
            guard case .appletMissing = error else { throw .card(error) }
        }
        return try stranger(channel)
    }

    /// A card that has neither application; what its reader is called may tell more.
    private static func stranger(_ channel: CardChannel) throws(ManagementError) -> DeviceIdentity {
        if (try? NFCRestriction.isMet(channel)) ?? false { throw .nfcRestricted }
        let reader = channel.identity.reader
        guard let maker = KnownKeys.maker(named: reader), maker != .yubico else {
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
        let firmware = try text(channel, APDU(ins: 0x31, p1: 0, le: .bytes(32)))
        let product = try text(channel, APDU(ins: 0x31, p1: 1, le: .bytes(32)))
        let serial = try channel.transmit(APDU(ins: 0x32))
        return DeviceIdentity(
            maker: .canokey, product: product ?? "CanoKey", firmware: firmware,
            serial: serial.status == .ok && !serial.data.isEmpty ? Hex.encode(serial.data.prefix(16)) : nil)
    }

    /// The reply as text, when it is some: at most 64 bytes, printable.
    private static func text(_ channel: CardChannel, _ command: APDU) throws(CardError) -> String? {
        let reply = try channel.transmit(command)
        guard reply.status == .ok, (1...64).contains(reply.data.count) else { return nil }
        guard reply.data.allSatisfy({ (0x20...0x7E).contains($0) }) else { return nil }
        return String(decoding: reply.data, as: UTF8.self)
    }
}
