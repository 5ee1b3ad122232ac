// SPDX-License-Identifier: Apache-2.0

import YKProtocols
import YKWire

/// One page of device information: a length byte that counts everything after it, then data objects.
struct InfoPage: Hashable, Sendable {
    let objects: [TLV]
    /// The number of following pages, if the page has it (tag 10).
    let more: UInt8?

    /// Reads a page.
    init(_ bytes: [UInt8]) throws(WireError) {
        var reader = ByteReader(bytes)
        var inner = try reader.reader(Int(try reader.byte("the length of the page")), "the page")
        try reader.finish("the page")
        let objects = try inner.tlvs()
        let more = objects.filter { $0.tag == ManagementProtocol.Tag.moreData }
        guard more.count < 2 else { throw WireError(.duplicate, at: 0, "tag 10 occurs twice") }
        guard more.first?.value.count ?? 1 == 1 else {
            throw WireError(.malformed, at: 0, "the number of pages (tag 10) is not one byte")
        }
        self.objects = objects.filter { $0.tag != ManagementProtocol.Tag.moreData }
        self.more = more.first?.value.first
    }
}
