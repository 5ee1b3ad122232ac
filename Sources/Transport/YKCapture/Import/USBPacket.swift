// SPDX-License-Identifier: Apache-2.0

import YKTransport
import YKWire

/// What Linux's usbmon says of one transfer (Documentation/usb/usbmon.rst): a header of 48 or 64 bytes in the byte order
/// of the machine, then the data.
struct USBPacket {
    /// Where the transfer is in its life.
    enum Moment: UInt8 {
        case submitted = 0x53
        case completed = 0x43
        case failed = 0x45
    }

    /// How data is transferred.
    enum Transfer: UInt8 {
        case isochronous
        case interrupt
        case control
        case bulk
    }

    /// Where a device is for as long as it is plugged in.
    struct Address: Hashable {
        let bus: UInt16
        let device: UInt8
    }

    let number: Int
    /// What the submission and the completion of a transfer have in common.
    let id: UInt64
    let moment: Moment
    let transfer: Transfer
    let isIn: Bool
    let address: Address
    /// The eight bytes that begin a control transfer; empty for others. usbmon tells them at the submission only.
    var setup: [UInt8]
    /// 0, or the number of an error, negative.
    let status: Int32
    /// Since 1970.
    let milliseconds: Double
    let data: [UInt8]
    /// Whether there was more data than is in the file.
    let isCut: Bool

    /// The link types of packets with headers of 48 and of 64 bytes.
    static let links: [UInt32: Int] = [189: 48, 220: 64]

    /// Reads a packet; `nil` when it is not from usbmon, or cut off in its header.
    init?(_ packet: PacketFile.Packet) {
        guard let size = Self.links[packet.link], packet.bytes.count >= size else { return nil }
        let header = { (offset: Int, count: Int) -> UInt64 in
            let bytes = packet.bytes[offset..<(offset + count)]
            return (packet.isLittleEndian ? Array(bytes.reversed()) : Array(bytes)).reduce(0) { $0 << 8 | UInt64($1) }
        }
        guard let moment = Moment(rawValue: packet.bytes[8]), let transfer = Transfer(rawValue: packet.bytes[9]) else {
            return nil
        }
        number = packet.number
        id = header(0, 8)
        self.moment = moment
        self.transfer = transfer
        isIn = packet.bytes[10] & 0x80 != 0
        address = Address(bus: UInt16(truncatingIfNeeded: header(12, 2)), device: packet.bytes[11])
        setup = transfer == .control && packet.bytes[14] == 0 ? Array(packet.bytes[40..<48]) : []
        status = Int32(truncatingIfNeeded: header(28, 4))
        milliseconds =
            Double(Int64(bitPattern: header(16, 8))) * 1000
            + Double(Int32(truncatingIfNeeded: header(24, 4))) / 1000
        data = Array(packet.bytes[size...])
        // What is submitted for reading has a length, and no data yet.
        let hasData = isIn ? moment == .completed : moment == .submitted
        isCut = hasData && packet.bytes[15] == 0 && header(32, 4) > UInt64(data.count)
    }

    /// Whether this carries the data of its transfer: what the host sends is there when it is submitted, what it
    /// receives when it is completed.
    var carriesData: Bool { moment == (isIn ? .completed : .submitted) && (status == 0 || !isIn) }

    /// Whether the transfer ended because the device is gone: ENODEV or ESHUTDOWN.
    var isUnplugged: Bool { moment == .completed && (status == -19 || status == -108) }
}
