// SPDX-License-Identifier: Apache-2.0

import Testing
import YKProtocols
import YKTestSupport
import YKTransport
import YKWire

@testable import YKKeys

/// What a plan sends, and what it keeps back.
@Suite struct EffectTests {
    @Test func cardCommands() {
        expect(CommandEffect(of: [0, 0xA4, 4, 0, 7] + AID.oath.rawValue, in: nil), is: .read)
        expect(CommandEffect(of: [0, 0x01, 0, 0], in: .oath), is: .write(reply: [0x90, 0x00]))
        expect(CommandEffect(of: [0, 0xA2, 0, 1, 5, 0x71, 1, 0x61, 0x74, 0], in: .oath), is: .write(reply: nil))
        expect(CommandEffect(of: [0, 0xA2, 0, 1, 6, 0x71, 1, 0x61, 0x74, 1, 0], in: .oath), is: .read)
        expect(CommandEffect(of: [0, 0x20, 0, 0x80], in: .piv), is: .read)
        expect(CommandEffect(of: [0, 0x20, 0, 0x80, 1, 0x31], in: .piv), is: .write(reply: [0x90, 0x00]))
        expect(CommandEffect(of: [0, 0x20, 0xFF, 0x80], in: .piv), is: .write(reply: [0x90, 0x00]))
        expect(CommandEffect(of: [0, 0x87, 0x0A, 0x9B, 1, 0], in: .piv), is: .read)
        expect(CommandEffect(of: [0, 0x87, 0x11, 0x9A, 1, 0], in: .piv), is: .write(reply: nil))
        expect(CommandEffect(of: [0, 0x47, 0, 0x9A, 1, 0], in: .piv), is: .write(reply: nil))
        expect(CommandEffect(of: [0, 0xF9, 0x9A, 0], in: .piv), is: .read)
        expect(CommandEffect(of: [0, 0x20, 0, 0x82], in: .openPGP), is: .read)
        expect(CommandEffect(of: [0, 0x20, 0, 0x80], in: AID(rawValue: [0xF0, 1, 2, 3, 4])), is: .write(reply: nil))
        expect(CommandEffect(of: [1, 2], in: .oath), is: .write(reply: nil))
    }

    @Test func fidoMessages() {
        expect(CommandEffect(ofFIDO: .cbor, [0x04]), is: .read)
        expect(CommandEffect(ofFIDO: .cbor, [0x07]), is: .write(reply: [0x00]))
        expect(CommandEffect(ofFIDO: .cbor, [0x01, 0xA0]), is: .write(reply: nil))
        expect(CommandEffect(ofFIDO: .msg, [0, 3, 0, 0, 0, 0, 0]), is: .read)
        expect(CommandEffect(ofFIDO: .msg, []), is: .write(reply: nil))
        expect(CommandEffect(ofFIDO: .init(rawValue: 0x42), []), is: .read)
        expect(CommandEffect(ofFIDO: .init(rawValue: 0x43), []), is: .write(reply: []))
        expect(CommandEffect(ofFIDO: .wink, []), is: .write(reply: nil))
    }
}
