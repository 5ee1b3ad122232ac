// SPDX-License-Identifier: Apache-2.0

import Testing
import YKCapture
import YKProtocols
import YKTestSupport
import YKTransport
import YKWire

/// Packets of usbmon, made after its documentation, in every kind of file.
@Suite struct USBImportTests {
    /// A packet before it is written.
    struct Packet {
        var kind: Character = "S"
        var transfer: UInt8
        var endpoint: UInt8
        var data: [UInt8] = []
        var setup: [UInt8] = []
        var device: UInt8 = 5
        var status: Int32 = 0
        var id: UInt64 = 0x1122
        var length: Int?
        var milliseconds: Int64 = 0

        static func out(_ data: [UInt8]) -> Packet { Packet(transfer: 1, endpoint: 4, data: data) }
        static func `in`(_ data: [UInt8]) -> Packet { Packet(kind: "C", transfer: 1, endpoint: 0x84, data: data) }
        static func bulkOut(_ data: [UInt8]) -> Packet { Packet(transfer: 3, endpoint: 2, data: data) }
        static func bulkIn(_ data: [UInt8]) -> Packet { Packet(kind: "C", transfer: 3, endpoint: 0x82, data: data) }
        /// A control transfer that reads: its submission and its completion.
        static func control(_ setup: [UInt8], answer: [UInt8]) -> [Packet] {
            [
                Packet(transfer: 2, endpoint: 0x80, setup: setup, id: 9),
                Packet(kind: "C", transfer: 2, endpoint: 0x80, data: answer, id: 9),
            ]
        }
        static func control(_ setup: [UInt8], data: [UInt8]) -> Packet {
            Packet(transfer: 2, endpoint: 0, data: data, setup: setup, id: 10)
        }
    }

    /// A kind of file.
    enum File: CaseIterable {
        case little48
        case little64
        case big48
        case big64
        case ngLittle
        case ngBig

        var isLittleEndian: Bool { [.little48, .little64, .ngLittle].contains(self) }
        var hasLongHeader: Bool { [.little64, .big64, .ngLittle, .ngBig].contains(self) }
        var isNG: Bool { [.ngLittle, .ngBig].contains(self) }

        func number(_ value: some BinaryInteger, _ count: Int) -> [UInt8] {
            let bytes = (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
            return isLittleEndian ? bytes : bytes.reversed()
        }

        func packet(_ packet: Packet) -> [UInt8] {
            var bytes = number(packet.id, 8) + [packet.kind.asciiValue ?? 0, packet.transfer, packet.endpoint]
            bytes += [packet.device] + number(1, 2) + [packet.setup.isEmpty ? 0x2D : 0, packet.data.isEmpty ? 0x3C : 0]
            bytes += number(packet.milliseconds / 1000, 8) + number(packet.milliseconds % 1000 * 1000, 4)
            bytes += number(packet.status, 4) + number(packet.length ?? packet.data.count, 4)
            bytes +=
                number(packet.data.count, 4) + (packet.setup.isEmpty ? [UInt8](repeating: 0, count: 8) : packet.setup)
            return bytes + [UInt8](repeating: 0, count: hasLongHeader ? 16 : 0) + packet.data
        }

        func bytes(_ packets: [Packet]) -> [UInt8] {
            let link = hasLongHeader ? 220 : 189
            if isNG { return ng(packets, link) }
            let header = number(0xA1B2_C3D4 as UInt32, 4) + number(2, 2) + number(4, 2) + number(0, 8)
            return header + number(65535, 4) + number(link, 4)
                + packets.flatMap { packet in
                    let bytes = self.packet(packet)
                    return number(0, 8) + number(bytes.count, 4) + number(bytes.count, 4) + bytes
                }
        }

        private func block(_ kind: UInt32, _ body: [UInt8]) -> [UInt8] {
            let filled = body + [UInt8](repeating: 0, count: (4 - body.count % 4) % 4)
            return number(kind, 4) + number(filled.count + 12, 4) + filled + number(filled.count + 12, 4)
        }

        private func ng(_ packets: [Packet], _ link: Int) -> [UInt8] {
            let section = number(0x1A2B_3C4D as UInt32, 4) + number(1, 2) + number(0, 2) + number(-1, 8)
            return block(0x0A0D_0D0A, section) + block(1, number(link, 2) + number(0, 2) + number(0, 4))
                + block(5, [1, 2, 3])
                + packets.flatMap { packet in
                    let bytes = self.packet(packet)
                    return block(6, number(0, 12) + number(bytes.count, 4) + number(bytes.count, 4) + bytes)
                }
        }
    }

    private static let nonce = [UInt8](1...8)
    private static let channel = CTAPHID.Channel(rawValue: 0x0102_0304)

    private static func fido() throws -> [Packet] {
        let granted = nonce + channel.bytes + [2, 5, 7, 1, 5]
        let messages: [(Bool, CTAPHID.Message)] = [
            (true, .init(.initialize, on: .broadcast, nonce)), (false, .init(.initialize, on: .broadcast, granted)),
            (true, .init(.cbor, on: channel, [4])), (false, .init(.cbor, on: channel, [0, 0xA0])),
        ]
        return try messages.flatMap { isOut, message in
            try message.reports().map { isOut ? .out($0) : .in($0) }
        }
    }

    private func ccid(_ kind: UInt8, _ body: [UInt8], _ tail: [UInt8] = [0, 0, 0]) -> [UInt8] {
        let length = (0..<4).map { UInt8(truncatingIfNeeded: body.count >> (8 * $0)) }
        return [kind] + length + [0, 1] + tail + body
    }

    private func sessions(_ packets: [Packet], _ file: File = .little64) throws -> [CaptureImport.Session] {
        try CaptureImport.sessions(in: file.bytes(packets), from: .usbmon)
    }

    @Test(arguments: File.allCases)
    func fidoInEveryFile(file: File) throws {
        var packets = try Self.fido()
        for index in packets.indices { packets[index].milliseconds = 1_763_700_000_000 + Int64(index) }
        // Submissions for reading, completions of writing, a keyboard and another device's bulk data are passed over.
        packets += [
            Packet(transfer: 1, endpoint: 0x84, length: 64), Packet(kind: "C", transfer: 1, endpoint: 4, length: 64),
            Packet(kind: "C", transfer: 1, endpoint: 0x81, data: [0, 0, 4, 0, 0, 0, 0, 0]),
            Packet(transfer: 3, endpoint: 2, data: Array("USBC".utf8) + [UInt8](repeating: 0, count: 27), device: 6),
        ]
        let list = try sessions(packets, file)
        expect(list.map(\.label), is: ["bus 1 device 5, FIDO"])
        let capture = try #require(list.first?.capture)
        #expect(capture.header.link == .hid && capture.events.count == 4)
        #expect(capture.events.map(\.milliseconds) == [0, 1, 2, 3] && capture.check().filter(\.isError).isEmpty)
        expect(capture.events[0].kind, is: .written(packets[0].data))
        expect(capture.events[3].kind, is: .delivered(packets[3].data))
    }

    @Test func cards() throws {
        let select = try APDU.select(.fido).encoded(.short)
        let packets: [Packet] = [
            .bulkOut(ccid(0x62, [])), .bulkIn(ccid(0x80, [0x3B, 0x80, 0x80, 0x01, 0x01])),
            .bulkOut(ccid(0x6F, select)), .bulkIn(ccid(0x80, [], [0x80, 1, 0])),
            .bulkIn(ccid(0x80, Array("U2F_V2".utf8) + [0x90, 0])),
            // A command and a reply in two parts each, the second part of the reply in two transfers.
            .bulkOut(ccid(0x6F, [0x80, 0x10, 0, 0], [0, 1, 0])), .bulkIn(ccid(0x80, [], [0, 0, 0x10])),
            .bulkOut(ccid(0x6F, [1, 4, 0], [0, 2, 0])), .bulkIn(ccid(0x80, [0, 0xA0], [0, 0, 1])),
            .bulkOut(ccid(0x6F, [], [0, 0x10, 0])), .bulkIn(Array(ccid(0x80, [0x90, 0], [0, 0, 2]).prefix(11))),
            .bulkIn([0]), .bulkOut(ccid(0x6F, [0, 0xA4, 0, 0])), .bulkIn(ccid(0x80, [], [0x40, 0xFE, 0])),
            .bulkOut(ccid(0x6F, [0, 0xA5, 0, 0])), .bulkOut(ccid(0x6F, [0, 0xA6, 0, 0])),
            .bulkIn(ccid(0x80, [], [0x42, 0xFE, 0])), .bulkOut(ccid(0x63, [])), .bulkIn(ccid(0x81, [])),
        ]
        let list = try sessions(packets)
        expect(list.map(\.label), is: ["bus 1 device 5, card"])
        let capture = try #require(list.first?.capture)
        #expect(capture.header.atr == [0x3B, 0x80, 0x80, 0x01, 0x01] && capture.header.link == .card)
        expect(
            capture.events.map(\.kind),
            is: [
                .link(.powerOn, why: nil),
                .exchange(command: select, reply: Array("U2F_V2".utf8) + [0x90, 0]),
                .exchange(command: [0x80, 0x10, 0, 0, 1, 4, 0], reply: [0, 0xA0, 0x90, 0]),
                .link(.fail, why: "reader error 254"), .link(.fail, why: "no reply in the log"),
                .link(.removed, why: nil), .link(.powerOff, why: nil),
            ])
    }

    @Test func aKeyWithAllItsInterfaces() throws {
        let descriptor: [UInt8] = [18, 1, 0, 2, 0, 0, 0, 64, 0x50, 0x10, 0x07, 0x04, 1, 0, 1, 2, 0, 1]
        let letters: [UInt8] = Array("YubiKey".utf8)
        let name: [UInt8] = [16, 3] + letters.flatMap { (letter: UInt8) -> [UInt8] in [letter, 0] }
        var packets = Packet.control([0x80, 6, 0, 1, 0, 0, 18, 0], answer: descriptor)
        packets += Packet.control([0x80, 6, 2, 3, 9, 4, 255, 0], answer: name)
        packets += try Self.fido()
        packets += [.control([0x21, 9, 0, 3, 0, 0, 8, 0], data: [UInt8](1...8))]
        packets += Packet.control([0xA1, 1, 0, 3, 0, 0, 8, 0], answer: [0, 5, 7, 1, 3, 0, 0, 0])
        packets += [.bulkOut(ccid(0x6F, [0, 0xA4, 4, 0])), .bulkIn(ccid(0x80, [0x6A, 0x82]))]
        packets += [Packet(kind: "C", transfer: 1, endpoint: 0x84, status: -108)]
        packets += [Packet(kind: "C", transfer: 1, endpoint: 0x81, status: -108)]
        let list = try sessions(packets)
        let place = "bus 1 device 5 (YubiKey)"
        expect(list.map(\.label), is: ["\(place), FIDO", "\(place), slots", "\(place), card"])
        expect(list.map(\.capture.header.device), is: ["YubiKey", "YubiKey", "YubiKey"])
        for session in list { expect(session.capture.events.last?.kind, is: .link(.removed, why: nil)) }
        let slots: [Capture.Event.Kind] = [
            .featureSet([UInt8](1...8)), .featureGot([0, 5, 7, 1, 3, 0, 0, 0]), .link(.removed, why: nil),
        ]
        expect(list[1].capture.events.map(\.kind), is: slots)
        let error = #expect(throws: CaptureError.self) {
            try Capture(importing: File.little64.bytes(packets), from: .usbmon)
        }
        expect(error?.reason.hasPrefix("the log has 3 cards and HID devices, choose one:"), is: true)
        let nameless = try sessions(Packet.control([0x80, 6, 0, 1, 0, 0, 18, 0], answer: descriptor) + Self.fido())
        expect(nameless.map(\.label), is: ["bus 1 device 5 (1050:0407), FIDO"])
    }

    /// Keys whose FIDO interface has no way out but the control endpoint.
    @Test func reportsOverTheControlEndpoint() throws {
        let report = try CTAPHID.Message(.cbor, on: Self.channel, [4]).reports()[0]
        let list = try sessions([.control([0x21, 9, 0, 2, 0, 0, 64, 0], data: report)])
        expect(list.first?.capture.events.map(\.kind), is: [.written(report)])
    }

    @Test func brokenFiles() throws {
        let whole = File.little64.bytes(try Self.fido())
        func reason(_ bytes: [UInt8]) -> String? {
            do { _ = try CaptureImport.sessions(in: bytes, from: .usbmon) } catch { return error.description }
            return nil
        }
        expect(reason([]), is: "neither a pcap nor a pcapng file")
        expect(reason(Array("hello, world".utf8)), is: "neither a pcap nor a pcapng file")
        expect(reason(Array(whole.prefix(20))), is: "the header of the pcap file is cut off")
        var ethernet = whole
        ethernet[20] = 1
        expect(reason(ethernet), is: "packets of link type 1, not of usbmon (189 or 220)")
        expect(reason(Array(whole.prefix(24))), is: "no exchange with a card or device in this usbmon log")
        let cut = Packet(
            transfer: 3, endpoint: 2, data: Array(ccid(0x6F, [0, 0xA4, 4, 0, 9, 9, 9, 9, 9, 9]).prefix(14)), length: 20)
        expect(reason(File.little64.bytes([cut]))?.hasPrefix("packet 1 is cut off"), is: true)
        var block = File.ngLittle.bytes(try Self.fido())
        block[32] = 7
        expect(reason(block), is: "a block of 7 bytes at offset 28")
    }

    /// Whatever byte is wrong, and wherever the file ends, there is a capture or an error.
    @Test(arguments: File.allCases)
    func hostileFiles(file: File) throws {
        let packets = try Self.fido() + [.bulkOut(ccid(0x6F, [0, 0xA4, 4, 0])), .bulkIn(ccid(0x80, [0x6A, 0x82]))]
        let whole = file.bytes(packets)
        for end in whole.indices { _ = try? CaptureImport.sessions(in: Array(whole[..<end]), from: .usbmon) }
        for index in whole.indices {
            for value in [0x00, 0x7F, 0x80, 0xFF, whole[index] ^ 1] as [UInt8] {
                var bytes = whole
                bytes[index] = value
                _ = try? CaptureImport.sessions(in: bytes, from: .usbmon)
            }
        }
    }
}
