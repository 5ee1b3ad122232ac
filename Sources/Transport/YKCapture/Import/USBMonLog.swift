// SPDX-License-Identifier: Apache-2.0

import YKTransport
import YKWire

/// Reads the packets of usbmon: of each device its FIDO reports, its slot reports, and the cards of its reader.
///
/// FIDO's interface is known by its reports of 64 bytes, among which the host begins a CTAPHID message; no descriptors
/// have to be in the file. Where they are, they give the device a name.
struct USBMonLog {
    private var devices: [USBPacket.Address: USBDeviceTraffic] = [:]
    private var order: [USBPacket.Address] = []
    /// Control transfers that were submitted, by the transfer.
    private var setups: [UInt64: [UInt8]] = [:]

    static func read(_ bytes: [UInt8], into book: inout SessionBook) throws(CaptureError) {
        let packets = try PacketFile(bytes).packets
        if let other = packets.first, !packets.contains(where: { USBPacket.links[$0.link] != nil }) {
            throw CaptureError(line: 0, "packets of link type \(other.link), not of usbmon (189 or 220)")
        }
        var log = USBMonLog()
        for packet in packets {
            if let packet = USBPacket(packet) { try log.take(packet) }
        }
        for address in log.order { log.devices[address]?.write(to: &book) }
    }

    private mutating func take(_ packet: USBPacket) throws(CaptureError) {
        var packet = packet
        if packet.transfer == .control, packet.moment == .submitted {
            setups[packet.id] = packet.setup
        } else if packet.transfer == .control {
            packet.setup = setups.removeValue(forKey: packet.id) ?? []
        }
        if devices[packet.address] == nil {
            order.append(packet.address)
            devices[packet.address] = USBDeviceTraffic(packet.address)
        }
        try devices[packet.address]?.take(packet)
    }
}
