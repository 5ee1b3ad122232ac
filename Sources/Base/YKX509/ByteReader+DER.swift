// SPDX-License-Identifier: Apache-2.0

package import YKWire

/// Objects in distinguished encoding (X.690 §10, §11): lengths are definite and in their shortest form.
extension ByteReader {
    /// Reads one object of any tag.
    package mutating func der() throws(WireError) -> TLV { try tlv(lengths: .shortest) }

    /// Reads objects until nothing is left.
    package mutating func derObjects() throws(WireError) -> [TLV] { try tlvs(lengths: .shortest) }

    /// Reads one object that must have this tag, and returns a reader over its value.
    package mutating func der(_ expected: TLV.Tag, _ what: String) throws(WireError) -> ByteReader {
        try tlv(expected, what, lengths: .shortest)
    }

    /// Reads a SEQUENCE, and returns it with its tag and length.
    mutating func derSequence(_ what: String) throws(WireError) -> [UInt8] {
        var content = try der(0x30, what)
        return TLV(0x30, content.rest()).encoded
    }

    /// Reads an OCTET STRING.
    package mutating func derOctets(_ what: String) throws(WireError) -> [UInt8] {
        var content = try der(0x04, what)
        return content.rest()
    }

    /// Reads an INTEGER in its shortest form.
    ///
    /// - Returns: The two's complement, most significant byte first.
    package mutating func derInteger(_ what: String) throws(WireError) -> [UInt8] {
        let start = offset
        var content = try der(0x02, what)
        let bytes = content.rest()
        guard let first = bytes.first else { throw WireError(.malformed, at: start, "\(what) is empty") }
        if bytes.count > 1, first == 0x00 && bytes[1] < 0x80 || first == 0xFF && bytes[1] >= 0x80 {
            throw WireError(.malformed, at: start, "\(what) is not in its shortest form")
        }
        return bytes
    }

    /// Reads an INTEGER from 0 to 2³¹ - 1.
    package mutating func derNumber(_ what: String) throws(WireError) -> Int {
        let start = offset
        let bytes = try derInteger(what)
        guard bytes.count <= 4, bytes[0] < 0x80 else {
            throw WireError(.malformed, at: start, "\(what) is negative or above 2147483647")
        }
        return bytes.reduce(0) { $0 << 8 | Int($1) }
    }

    /// Reads a BOOLEAN of one byte. Some programs write 01 instead of FF for true, which every other reader accepts.
    mutating func derBoolean(_ what: String) throws(WireError) -> Bool {
        let start = offset
        var content = try der(0x01, what)
        let bytes = content.rest()
        guard bytes.count == 1 else { throw WireError(.malformed, at: start, "\(what) is not one byte") }
        return bytes[0] != 0
    }

    /// Reads a BIT STRING whose unused bits are zero.
    mutating func derBits(_ what: String) throws(WireError) -> [UInt8] {
        let start = offset
        var content = try der(0x03, what)
        let unused = try content.byte("the number of unused bits")
        let bytes = content.rest()
        guard unused < 8, (bytes.last ?? 0) & (1 << unused - 1) == 0, unused == 0 || !bytes.isEmpty else {
            throw WireError(.malformed, at: start, "\(what) has \(unused) unused bits, or uses them")
        }
        return bytes
    }

    /// Reads an object identifier.
    package mutating func derOID(_ what: String) throws(WireError) -> OID {
        let start = offset
        var content = try der(0x06, what)
        guard let oid = OID(content: content.rest()) else {
            throw WireError(.malformed, at: start, "\(what) is not an object identifier")
        }
        return oid
    }
}
