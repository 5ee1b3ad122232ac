// SPDX-License-Identifier: Apache-2.0

import YKWire

/// The packets of a capture file from tcpdump (pcap, draft-ietf-opsawg-pcap) or Wireshark (pcapng,
/// draft-ietf-opsawg-pcapng), in either byte order. Packet times are not read, because USB packets carry their own.
struct PacketFile {
    /// A packet, possibly truncated to the file's snapshot length.
    struct Packet {
        /// The packet number, counted from 1 as in Wireshark.
        let number: Int
        /// The link type (`LINKTYPE_…`).
        let link: UInt32
        let isLittleEndian: Bool
        let bytes: [UInt8]
    }

    private(set) var packets: [Packet] = []
    private var reader: ByteReader
    private var isLittleEndian = true
    /// The link types of a pcapng section, by interface number.
    private var interfaces: [UInt32] = []

    /// Whether a file begins as one of packets.
    static func isOne(_ bytes: [UInt8]) -> Bool {
        let starts: [[UInt8]] = [
            [0xD4, 0xC3, 0xB2, 0xA1], [0x4D, 0x3C, 0xB2, 0xA1], [0xA1, 0xB2, 0xC3, 0xD4], [0xA1, 0xB2, 0x3C, 0x4D],
            [0x0A, 0x0D, 0x0D, 0x0A],
        ]
        return starts.contains { bytes.starts(with: $0) }
    }

    /// Parses a file. Throws if it is invalid, but ignores a truncated last packet.
    init(_ bytes: [UInt8]) throws(CaptureError) {
        reader = ByteReader(bytes)
        switch Array(bytes.prefix(4)) {
        case [0xD4, 0xC3, 0xB2, 0xA1], [0x4D, 0x3C, 0xB2, 0xA1]: try readPackets(isLittleEndian: true)
        case [0xA1, 0xB2, 0xC3, 0xD4], [0xA1, 0xB2, 0x3C, 0x4D]: try readPackets(isLittleEndian: false)
        case [0x0A, 0x0D, 0x0D, 0x0A]: try readBlocks()
        default: throw CaptureError(line: 0, "neither a pcap nor a pcapng file")
        }
    }

    private mutating func readPackets(isLittleEndian: Bool) throws(CaptureError) {
        self.isLittleEndian = isLittleEndian
        guard (try? reader.bytes(20)) != nil, let link = number() else {
            throw CaptureError(line: 0, "the header of the pcap file is cut off")
        }
        while !reader.isAtEnd {
            guard (try? reader.bytes(8)) != nil, let length = number(), number() != nil,
                let bytes = try? reader.bytes(Int(length))
            else { return }
            append(bytes, link: link & 0xFFFF)
        }
    }

    private mutating func readBlocks() throws(CaptureError) {
        while reader.remaining >= 12 {
            let start = reader.offset
            guard let kind = number(), let head = try? reader.bytes(4) else { return }
            if kind == Self.section {  // Its byte order already applies to its own length.
                isLittleEndian = reader.peek == 0x4D
                interfaces = []
            }
            let length = value(head)
            guard length >= 12, length % 4 == 0 else {
                throw CaptureError(line: 0, "a block of \(length) bytes at offset \(start)")
            }
            guard let body = try? reader.bytes(Int(length) - 12), (try? reader.bytes(4)) != nil else { return }
            take(kind, body)
        }
    }

    /// The section header type, a palindrome that reads the same in either byte order.
    private static let section: UInt32 = 0x0A0D_0D0A

    /// Processes a block: an interface description or a packet; others are skipped.
    private mutating func take(_ kind: UInt32, _ body: [UInt8]) {
        let outer = reader
        defer { reader = outer }
        reader = ByteReader(body)
        switch kind {
        case 1: if let link = number() { interfaces.append(isLittleEndian ? link & 0xFFFF : link >> 16) }
        case 3:
            guard let length = number(), let link = interfaces.first else { return }
            append((try? reader.bytes(min(Int(length), reader.remaining))) ?? [], link: link)
        case 6:
            guard let interface = number(), number() != nil, number() != nil, let length = number(), number() != nil,
                interface < interfaces.count, let bytes = try? reader.bytes(Int(length))
            else { return }
            append(bytes, link: interfaces[Int(interface)])
        default: break
        }
    }

    private mutating func number() -> UInt32? { (try? reader.bytes(4)).map(value) }

    private func value(_ bytes: [UInt8]) -> UInt32 {
        (isLittleEndian ? bytes.reversed() : bytes).reduce(0) { $0 << 8 | UInt32($1) }
    }

    private mutating func append(_ bytes: [UInt8], link: UInt32) {
        packets.append(
            Packet(number: packets.count + 1, link: link, isLittleEndian: isLittleEndian, bytes: bytes))
    }
}
