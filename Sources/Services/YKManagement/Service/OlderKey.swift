// SPDX-License-Identifier: Apache-2.0

import YKProtocols
import YKTransport
import YKWire

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
