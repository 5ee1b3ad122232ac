// SPDX-License-Identifier: Apache-2.0

/// Reads usbmon packets and finds each device's FIDO reports, slot reports, and the cards in its reader.
///
/// The FIDO interface is recognized by its 64-byte reports, among them the start of a CTAPHID message from the host, so
/// the file need not contain descriptors. If it does, they give the device its name.
struct USBMonLog {
    private var devices: [USBPacket.Address: USBDeviceTraffic] = [:]
    private var order: [USBPacket.Address] = []
    /// Submitted control transfers, by transfer ID.
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
