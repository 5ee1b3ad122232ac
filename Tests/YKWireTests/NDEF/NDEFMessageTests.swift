// SPDX-License-Identifier: Apache-2.0

import Testing
import YKTestSupport
import YKWire

/// Messages and records: the heads, the chunks, what cannot be.
@Suite struct NDEFMessageTests {
    private func decode(_ hex: String) throws -> NDEFMessage {
        try NDEFMessage(decoding: Hex.decode(hex.filter { $0 != " " }))
    }

    private func fault(_ hex: String) throws -> WireError.Code? {
        let bytes = try Hex.decode(hex.filter { $0 != " " })
        do {
            _ = try NDEFMessage(decoding: bytes)
            return nil
        } catch { return error.code }
    }

    @Test func oneShortRecord() throws {
        let message = try decode("d1 01 0d 55 04 63616e6f6b6579732e6f7267")
        expect(message.records, is: [NDEFRecord(wellKnown: "U", payload: [4] + Array("canokeys.org".utf8))])
        try expect(Hex.encode(message.encoded()), is: "d1010d550463616e6f6b6579732e6f7267")
    }

    @Test func longFormAndIdentifier() throws {
        let message = try decode("c9 01 00000002 03 54 616263 0041")
        let record = try #require(message.records.first)
        #expect(record.id == Array("abc".utf8) && record.payload == [0, 0x41] && record.typeName == "T")
        try expect(Hex.encode(message.encoded()), is: "d90102035461626300" + "41")
        let long = NDEFRecord(.unknown, payload: [UInt8](repeating: 7, count: 256))
        try expect(NDEFMessage([long]).encoded().prefix(6), is: [0xC5, 0, 0, 0, 1, 0])
        try expect(NDEFMessage(decoding: NDEFMessage([long]).encoded()).records, is: [long])
    }

    @Test func everyFormat() throws {
        let records = [
            NDEFRecord(.empty), NDEFRecord(wellKnown: "Hr", payload: [0x12]),
            NDEFRecord(.media, type: Array("text/plain".utf8), payload: [0x41]),
            NDEFRecord(.absoluteURI, type: Array("urn:x".utf8)),
            NDEFRecord(.external, type: Array("example.com:a".utf8), id: [1], payload: [2]),
            NDEFRecord(.unknown, payload: [3]), NDEFRecord(.reserved, type: [9], payload: [4]),
        ]
        let message = NDEFMessage(records)
        try expect(NDEFMessage(decoding: message.encoded()), is: message)
        expect(
            message.contents,
            is: [
                .empty, .wellKnown(type: "Hr", [0x12]), .media(type: "text/plain", [0x41]), .absoluteURI("urn:x", []),
                .external(type: "example.com:a", [2]), .unknown([3]), .unknown([4]),
            ])
    }

    @Test func chunksAreJoined() throws {
        // First chunk, a middle one without payload, the last one, then another record.
        let message = try decode("b1 01 02 54 0041  36 00 00  16 00 01 42  50 00 00")
        expect(message.records, is: [NDEFRecord(wellKnown: "T", payload: [0, 0x41, 0x42]), NDEFRecord(.empty)])
    }

    @Test(arguments: [1, 2, 3, 255, 256, 300, 1000])
    func chunksAreWrittenAndReadAgain(size: Int) throws {
        let message = NDEFMessage([
            NDEFRecord(.media, type: Array("a/b".utf8), id: [9], payload: (0..<700).map { UInt8($0 & 0xFF) }),
            NDEFRecord(.empty), NDEFRecord(.unknown, payload: [UInt8](repeating: 1, count: 256)),
        ])
        try expect(NDEFMessage(decoding: message.encoded(chunk: size)), is: message)
        try expect(message.encoded(chunk: 0), is: message.encoded())
    }

    @Test(arguments: [
        ("", WireError.Code.truncated), ("d1", .truncated), ("d101", .truncated), ("d1010555", .truncated),
        ("c101ffffffff5541", .truncated), ("c1ff0000", .truncated), ("d101025541", .truncated),
        ("5101015541", .malformed),  // no beginning
        ("910101554191010155 41", .malformed),  // two beginnings
        ("9101015541", .truncated),  // no end
        ("d101015541ff", .trailing), ("d00000 00", .trailing),
        ("d0010055", .malformed), ("d8000001aa", .malformed), ("d0000141", .malformed), ("f00000", .malformed),
        ("d5010055", .malformed), ("d1000141", .missing), ("d2000141", .missing), ("d3000141", .missing),
        ("d4000141", .missing), ("d6000141", .malformed),  // a chunk of no record
        ("b101015541 5101015541", .malformed),  // a record among chunks
        ("b101015541 5601015541", .malformed), ("b101015541 5e00010141 42", .malformed),
        ("f101015541", .truncated),  // the last chunk is missing
    ])
    func whatCannotBe(hex: String, code: WireError.Code) throws {
        try expect(fault(hex), is: code, "\(hex)")
    }

    @Test func whatCannotBeWritten() {
        let long = [UInt8](repeating: 0x41, count: 256)
        for message in [
            NDEFMessage([]), NDEFMessage([NDEFRecord(.media, type: long)]), NDEFMessage([.init(.unknown, id: long)]),
        ] {
            #expect(throws: WireError.self) { try message.encoded() }
        }
    }

    @Test func anythingIsReadOrRefused() throws {
        var generator = SeededGenerator(seed: 12)
        let seed = try Hex.decode("b1010254004136000016000142500000")
        for _ in 0..<20_000 {
            var bytes = Bool.random(using: &generator) ? seed : generator.bytes(upTo: 40)
            for _ in 0..<Int.random(in: 1...3, using: &generator) where !bytes.isEmpty {
                let place = Int.random(in: 0..<bytes.count, using: &generator)
                bytes[place] = UInt8.random(in: 0...255, using: &generator)
            }
            guard let message = try? NDEFMessage(decoding: bytes) else { continue }
            try expect(NDEFMessage(decoding: message.encoded()), is: message)
            _ = message.contents
        }
    }
}
