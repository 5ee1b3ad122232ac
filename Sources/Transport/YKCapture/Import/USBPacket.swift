// SPDX-License-Identifier: Apache-2.0

/// A packet from Linux's usbmon about one transfer (Documentation/usb/usbmon.rst): a header of 48 or 64 bytes in the
/// machine's byte order, then the data.
struct USBPacket {
    /// The stage of the transfer.
    enum Moment: UInt8 {
        case submitted = 0x53
        case completed = 0x43
        case failed = 0x45
    }

    /// The transfer type.
    enum Transfer: UInt8 {
        case isochronous
        case interrupt
        case control
        case bulk
    }

    /// The bus address of a device while it is plugged in.
    struct Address: Hashable {
        let bus: UInt16
        let device: UInt8
    }

    let number: Int
    /// The ID shared by the submission and the completion of a transfer.
    let id: UInt64
    let moment: Moment
    let transfer: Transfer
    let isIn: Bool
    let address: Address
    /// The eight-byte setup packet of a control transfer; empty for others. usbmon includes it only in the submission.
    var setup: [UInt8]
    /// 0, or a negative error number.
    let status: Int32
    /// Milliseconds since 1970.
    let milliseconds: Double
    let data: [UInt8]
    /// Whether data was truncated in the file.
    let isCut: Bool

    /// The link types of packets with 48-byte and 64-byte headers.
    static let links: [UInt32: Int] = [189: 48, 220: 64]

    /// Parses a packet; `nil` if it is not from usbmon or its header is truncated.
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
        // A submitted read has a length but no data yet.
        let hasData = isIn ? moment == .completed : moment == .submitted
        isCut = hasData && packet.bytes[15] == 0 && header(32, 4) > UInt64(data.count)
    }

    /// Whether this packet carries the data of its transfer: data from the host comes with the submission, data for the
    /// host with the completion.
    var carriesData: Bool { moment == (isIn ? .completed : .submitted) && (status == 0 || !isIn) }

    /// Whether the transfer ended because the device is gone: ENODEV or ESHUTDOWN.
    var isUnplugged: Bool { moment == .completed && (status == -19 || status == -108) }
}

/// A USB device's names from the descriptors in the traffic (USB 2.0 §9.6).
struct USBNames {
    private var identity: String?
    private var productIndex: UInt8 = 0
    private var strings: [UInt8: String] = [:]

    /// The product name, or else the vendor and product numbers.
    var name: String? { (productIndex == 0 ? nil : strings[productIndex]) ?? identity }

    /// Processes a descriptor of this type.
    mutating func take(_ kind: UInt8, index: UInt8, _ data: [UInt8]) {
        switch kind {
        case 1 where data.count >= 18:
            let digits = { (low: UInt8, high: UInt8) in
                let text = String(UInt16(high) << 8 | UInt16(low), radix: 16)
                return String(repeating: "0", count: 4 - text.count) + text
            }
            identity = "\(digits(data[8], data[9])):\(digits(data[10], data[11]))"
            productIndex = data[15]
        case 3 where index != 0 && data.count >= 4 && Int(data[0]) <= data.count && data[0] % 2 == 0:
            let units = stride(from: 2, to: Int(data[0]), by: 2).map { UInt16(data[$0 + 1]) << 8 | UInt16(data[$0]) }
            strings[index] = String(decoding: units, as: UTF16.self)
        default: break
        }
    }
}
