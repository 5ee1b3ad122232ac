// SPDX-License-Identifier: Apache-2.0

import YKTransport
package import YKWire

/// READ CONFIG (Yubico management interface, INS 1D): one page of device information.
package struct ReadConfig: CardCommand {
    package static let name = "READ CONFIG"

    /// What is on a page.
    package struct Page: Hashable, Sendable {
        package let objects: [TLV]
        /// How many pages there are after this one, where the page says so (tag 10).
        package let more: UInt8?
    }

    /// The number of the page, from 0.
    package let page: UInt8

    package init(page: UInt8) { self.page = page }

    package var apdu: APDU { APDU(ins: 0x1D, p1: page) }

    /// A length byte that counts everything after it, then data objects.
    package func decode(_ reader: inout ByteReader) throws(WireError) -> Page {
        var inner = try reader.reader(Int(try reader.byte("the length of the page")), "the page")
        try reader.finish("the page")
        let objects = try inner.tlvs()
        let more = objects.filter { $0.tag == 0x10 }
        guard more.count < 2 else { throw WireError(.duplicate, at: 0, "tag 10 is there twice") }
        guard more.first?.value.count ?? 1 == 1 else {
            throw WireError(.malformed, at: 0, "the number of pages (tag 10) is not one byte")
        }
        return Page(objects: objects.filter { $0.tag != 0x10 }, more: more.first?.value.first)
    }
}
