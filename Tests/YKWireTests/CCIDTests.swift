// SPDX-License-Identifier: Apache-2.0

import Testing
import YKTestSupport
import YKWire

/// Messages of card readers, beside the tables of CCID 1.1.
@Suite struct CCIDTests {
    @Test func commands() throws {
        let transfer = CCID.Command(.transfer, slot: 1, sequence: 7, choice: 2, level: 0x10, data: [0, 0xA4])
        expect(transfer.encoded, is: [0x6F, 2, 0, 0, 0, 1, 7, 2, 0x10, 0, 0, 0xA4])
        try expect(CCID.Command(decoding: transfer.encoded), is: transfer)
        expect(CCID.Command.powerOn(.oneEight).encoded, is: [0x62, 0, 0, 0, 0, 0, 0, 3, 0, 0])
        let parameters = CCID.Parameters.t1(.init())
        expect(CCID.Command.set(parameters).encoded.suffix(10), is: [1, 0, 0, 0x11, 0x10, 0, 0x4D, 0, 0x20, 0])
        let kinds: [(UInt8, UInt8)] = [
            (0x61, 0x82), (0x62, 0x80), (0x63, 0x81), (0x65, 0x81), (0x69, 0x80), (0x6A, 0x81), (0x6B, 0x83),
            (0x6C, 0x82), (0x6D, 0x82), (0x6E, 0x81), (0x6F, 0x80), (0x71, 0x81), (0x72, 0x81), (0x73, 0x84),
        ]
        for (kind, reply) in kinds { expect(CCID.Command.Kind(rawValue: kind).reply.rawValue, is: reply) }
    }

    @Test func replies() throws {
        let reply = try CCID.Reply(decoding: [0x80, 2, 0, 0, 0, 0, 9, 0x41, 0xFE, 3, 0x90, 0])
        #expect(reply.kind == .dataBlock && reply.sequence == 9 && reply.card == .inactive && reply.outcome == .failed)
        #expect(reply.error == .mute && reply.chain == .middle && reply.data == [0x90, 0])
        let other = CCID.Reply(.slotStatus, status: 0xC3, choice: 0x55)
        #expect(other.card == nil && other.outcome == nil && other.chain == nil)
        #expect("\(CCID.Failure.mute)" == "the card is mute" && "\(CCID.Failure.badSlot)".contains("5"))
        #expect("\(CCID.Failure(rawValue: 0xC1))".contains("c1"))
    }

    @Test(arguments: [
        "", "80", "8000000000000000", "800100000000000000", "80ffffffff0000000000", "80090001000000000000",
        "8000000000000000000000",
    ])
    func lies(hex: String) throws {
        let bytes = try Hex.decode(hex)
        #expect(throws: WireError.self) { try CCID.Reply(decoding: bytes) }
        #expect(throws: WireError.self) { try CCID.Command(decoding: bytes) }
    }

    @Test func assembling() throws {
        let message = CCID.Reply(.dataBlock, data: [UInt8](repeating: 5, count: 100)).encoded
        for cut in [1, 7, 10, 64, 109] {
            var assembler = CCID.Assembler()
            expect(assembler.missing, is: 10)
            #expect(try assembler.add(Array(message.prefix(cut))) == nil && assembler.isInMessage)
            expect(assembler.missing, is: (cut < 10 ? 10 - cut : 110 - cut))
            #expect(try assembler.add(Array(message.dropFirst(cut))) == message && !assembler.isInMessage)
        }
        var assembler = CCID.Assembler()
        #expect(throws: WireError.self) { try assembler.add(message + [1]) }
        #expect(throws: WireError.self) { try assembler.add([0x80, 0, 0, 2, 0, 0, 0, 0, 0, 0]) }
        try expect(assembler.add([0x80]), is: nil)
        assembler.reset()
        #expect(!assembler.isInMessage)
    }

    @Test func notifications() {
        let news = CCID.Notification([0x50, 0b0000_0111, 0b10])
        #expect(news.state(of: 0)?.hasCard == true && news.state(of: 0)?.hasChanged == true)
        #expect(news.state(of: 1)?.hasCard == true && news.state(of: 1)?.hasChanged == false)
        #expect(
            news.state(of: 4)?.hasCard == false && news.state(of: 4)?.hasChanged == true && news.state(of: 8) == nil)
        expect(CCID.Notification([0x51, 1, 2, 3]), is: .hardware(slot: 1, sequence: 2, code: 3))
        #expect(CCID.Notification([0x51, 1]) == .other([0x51, 1]) && CCID.Notification([]).state(of: 0) == nil)
    }

    @Test func parameters() throws {
        let t0 = CCID.Parameters.t0(speed: 0x11, convention: 0, guardTime: 2, waiting: 10, clockStop: 3)
        #expect(try CCID.Parameters(0, decoding: t0.encoded) == t0 && t0.protocolNumber == 0)
        let t1 = CCID.Parameters.t1(.init(blockSize: 0xFE, node: 1))
        #expect(try CCID.Parameters(1, decoding: t1.encoded) == t1 && t1.protocolNumber == 1)
        #expect(throws: WireError.self) { try CCID.Parameters(0, decoding: t1.encoded) }
        #expect(throws: WireError.self) { try CCID.Parameters(2, decoding: t0.encoded) }
        #expect(throws: WireError.self) { try CCID.Parameters(1, decoding: t0.encoded) }
    }

    /// The class descriptor of a YubiKey 5.
    private static let yubikey =
        "36211001000102000000a00f0000a00f00000000b0040000b0040000fe0000000000000000000000be000400000c0000ffff00000001"

    @Test func descriptors() throws {
        let bytes = try Hex.decode(Self.yubikey)
        let descriptor = try CCID.Descriptor(decoding: bytes)
        #expect(descriptor.encoded == bytes && descriptor.release == 0x0110 && descriptor.maxBlockSize == 254)
        #expect(descriptor.level == .extendedAPDU && descriptor.powerChoices == [.automatic])
        #expect(descriptor.maxDataLength == 3062 && descriptor.busySlots == 1)
        try expect(CCID.Descriptor(decoding: descriptor.encoded), is: descriptor)
        var other = descriptor
        (other.features, other.voltages, other.maxMessageLength) = ([.tpdu], 7, .max)
        #expect(other.level == .tpdu && other.powerChoices == [.oneEight, .three, .five])
        expect(other.maxDataLength, is: CCID.dataLimit)
        (other.features, other.voltages, other.maxMessageLength) = ([], 0, 3)
        #expect(other.level == .character && other.powerChoices == [.automatic] && other.maxDataLength == 261)
        other.features = .shortAPDU
        expect(other.level, is: .shortAPDU)
        for count in 0..<54 {
            #expect(throws: WireError.self) { try CCID.Descriptor(decoding: Array(bytes.prefix(count))) }
        }
        #expect(throws: WireError.self) { try CCID.Descriptor(decoding: [54, 0x22] + bytes.dropFirst(2)) }
        #expect(throws: WireError.self) { try CCID.Descriptor(decoding: [53] + bytes.dropFirst()) }
    }
}
