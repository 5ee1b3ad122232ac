// SPDX-License-Identifier: Apache-2.0

import Testing
import YKTestSupport
import YKWire

@Suite struct CBORFieldsTests {
    private let message: CBOR = [
        1: ["FIDO_2_0", "FIDO_2_1"], 3: "text", 4: ["rk": true], 5: 1200, 6: [1, "two"], 7: .bytes([1, 2, 3]), 8: -1,
    ]

    private func fields(_ mode: CBOR.Mode = .lenient) throws -> CBOR.Fields {
        try CBOR.Fields(decoding: message.encoded, "getInfo", mode)
    }

    @Test func valuesOfTheirKinds() throws {
        let info = try fields(.strict)
        try expect(info.optionalList(1, of: .text), is: ["FIDO_2_0", "FIDO_2_1"])
        try expect(info.required(5, .unsigned), is: 1200)
        try expect(info.required(5, .int), is: 1200)
        try expect(info.required(7, .bytes), is: [1, 2, 3])
        try expect(info.required(3, .any), is: "text")
        try expect(info.optionalFields(4)?.optional("rk", .bool), is: true)
        #expect(try info.optionalFields(9) == nil)
        try expect(info.optional(9, .bytes), is: nil)
        try expect(info.optionalList(9, of: .bytes), is: nil)
        try expect(info.required(4, .map).count, is: 1)
    }

    @Test func anErrorNamesTheMessageTheKeyAndTheByte() throws {
        let info = try fields()
        let place = try #require(info.place(of: 3))
        expect(message.encoded[place.lowerBound], is: 0x64)
        let error = #expect(throws: WireError.self) { try info.optional(3, .bytes) }
        expect(error?.description, is: "key 3 of getInfo: expected bytes, got text at byte \(place.lowerBound)")
        let missing = #expect(throws: WireError.self) { try info.required(9, .bytes) }
        expect(missing?.code, is: .missing)
        expect(missing?.reason, is: "key 9 of getInfo: expected bytes, got nothing")
        let element = #expect(throws: WireError.self) { try info.optionalList(6, of: .int) }
        expect(element?.reason, is: "key 6 of getInfo: expected an array of an integer, got text as element 1")
        let inner = #expect(throws: WireError.self) { try info.optionalFields(4)?.required("rk", .text) }
        expect(inner?.reason.hasPrefix("key \"rk\" of key 4 of getInfo: expected text, got a boolean"), is: true)
        expect(inner?.offset, is: message.encoded.firstIndex(of: 0xF5))
        #expect(throws: WireError.self) { try info.required(8, .unsigned) }
        expect(info.place(of: 99), is: nil)
    }

    @Test func offsetsCountFromTheOutermostInput() throws {
        var reader = ByteReader([0xAA, 0xBB] + ([1: "x"] as CBOR).encoded + [0xCC])
        _ = try reader.bytes(2)
        let fields = try reader.cborFields("reply")
        let error = #expect(throws: WireError.self) { try fields.required(1, .bytes) }
        expect(error?.offset, is: 4)
        expect(reader.remaining, is: 1)
    }

    @Test func mapsOfIndefiniteLengthToo() throws {
        let fields = try CBOR.Fields(decoding: Hex.decode("bf0161780263616263ff"), "reply")
        try expect(fields.required(2, .text), is: "abc")
        expect(fields.place(of: 2), is: 5..<9)
        expect(fields.place(of: 3), is: nil)
    }

    @Test func notAMap() {
        #expect(throws: WireError.self) { try CBOR.Fields(decoding: [0x01], "reply") }
        #expect(throws: WireError.self) { try CBOR.Fields(decoding: [0xA0, 0x00], "reply") }
        #expect(throws: WireError.self) { try CBOR.Fields(decoding: [], "reply") }
    }
}
