// SPDX-License-Identifier: Apache-2.0

import Testing
import YKTestSupport

@testable import YKHardware
@testable import YKWire

/// What real readers say of themselves (`captures/field/readers.tsv`).
@Suite struct ReaderListTests {
    private struct Row {
        let name: String
        let interface: USBDescriptors.Interface
        let level: String
    }

    /// One row as the interface that the kernel reports, its class descriptor laid out as CCID 1.1 §5.1 has it. The list counts
    /// endpoints: two are for bulk transfers, a third or a single one is for interrupts.
    private static func row(_ line: Substring) throws -> Row {
        let columns = line.split(separator: "\t").map(String.init)
        try #require(columns.count == 13, "\(line)")
        func number(_ column: Int, _ radix: Int = 10) throws -> Int { try #require(Int(columns[column], radix: radix)) }
        var descriptor = [UInt8](repeating: 0, count: 54)
        func put(_ value: Int, _ place: Int, _ length: Int) {
            for index in 0..<length { descriptor[place + index] = UInt8(truncatingIfNeeded: value >> (8 * index)) }
        }
        descriptor[0] = 54
        descriptor[1] = 0x21
        put(try number(6), 4, 1)
        put(try number(7), 5, 1)
        put(try number(8, 16), 6, 4)
        put(try number(11), 28, 4)
        put(try number(9, 16), 40, 4)
        put(try number(10), 44, 4)
        let count = try number(5)
        var endpoints: [USBDescriptors.Endpoint] = []
        if count >= 2 {
            endpoints = [0x01, 0x82].map { .init(address: $0, kind: .bulk, packetSize: 64) }
        }
        if count % 2 == 1 { endpoints.append(.init(address: 0x83, kind: .interrupt, packetSize: 8)) }
        return Row(
            name: columns[0],
            interface: .init(
                number: UInt8(try number(2)), interfaceClass: UInt8(try number(3, 16)),
                interfaceProtocol: UInt8(try number(4)), endpoints: endpoints, extra: [descriptor]),
            level: columns[12])
    }

    private let rows: [Row]

    init() throws {
        rows = try Recordings.text("captures/field/readers.tsv").split(separator: "\n").dropFirst().map(Self.row)
        try #require(rows.count == 773)
    }

    @Test func eachIsACardReader() throws {
        for row in rows {
            let reader = try #require(row.interface.reader, "\(row.name)")
            #expect(row.interface.isCardReader, "\(row.name)")
            #expect((261...CCID.dataLimit).contains(reader.maxDataLength), "\(row.name)")
            #expect(!reader.powerChoices.isEmpty, "\(row.name)")
            let level = ["character": CCID.Descriptor.Level.character, "tpdu": .tpdu, "short": .shortAPDU]
            expect(reader.level, is: level[row.level] ?? .extendedAPDU, "\(row.name)")
        }
    }

    /// Tokens of the ICCD class have no bulk endpoints: they are known, and not offered as readers.
    @Test func tokensWithoutBulkEndpointsAreNotOffered() {
        let tokens = rows.filter { USBReaderEndpoints($0.interface) == nil }
        expect(tokens.count, is: 11)
        #expect(tokens.allSatisfy { [1, 2].contains($0.interface.interfaceProtocol) })
    }
}
