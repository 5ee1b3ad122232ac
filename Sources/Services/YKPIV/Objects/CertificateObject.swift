// SPDX-License-Identifier: Apache-2.0

import YKCompression
public import YKWire

/// The certificate data object (NIST SP 800-73-4 Part 1 §3.3.3): 70 certificate, 71 information, FE.
public struct CertificateObject: Hashable, Sendable {
    /// The certificate as stored.
    public let stored: [UInt8]
    /// Whether it is compressed: by its content if that is clear, otherwise by the information byte.
    public let isCompressed: Bool

    /// Maximum size of a decompressed certificate in bytes.
    public static let inflatedLimit = 1 << 16

    /// Reads the content of the object.
    public init(decoding bytes: [UInt8]) throws(WireError) {
        let objects = try TLV.list(bytes)
        let outer = try objects.required(0x70, "certificate")
        // Some versions of Net iD write the element 70 twice, one inside the other.
        let isNested = outer.first == 0x70
        stored = isNested ? (try? TLV.list(outer))?.value(0x70) ?? outer : outer
        // DER starts with 30; some cards mark gzip with 80, the first bit of older specifications, or not at all, and
        // OpenSC's minidriver writes zlib. Information of another length than one byte says nothing.
        let info = objects.value(0x71) ?? []
        let isMarked = info.count == 1 && (info[0] & 0x03 == 1 || info[0] & 0x80 != 0)
        isCompressed =
            stored.first != 0x30 && (isMarked || stored.starts(with: Self.gzip) || Self.isZlib(stored) || isNested)
    }

    private static let gzip: [UInt8] = [0x1F, 0x8B]

    /// Whether bytes begin with a header of zlib with a window of 32 KiB (RFC 1950 §2.2).
    private static func isZlib(_ bytes: [UInt8]) -> Bool {
        bytes.count > 2 && bytes[0] == 0x78 && (Int(bytes[0]) << 8 | Int(bytes[1])).isMultiple(of: 31)
    }

    /// Creates the object for a certificate, compressed with gzip if requested. Throws if compression fails.
    public init(certificate: [UInt8], compressed: Bool) throws(PIVError) {
        isCompressed = compressed
        guard compressed else {
            stored = certificate
            return
        }
        guard let bytes = Compression.gzip(certificate) else { throw .notInflated(limit: Self.inflatedLimit) }
        stored = bytes
    }

    /// The content of the object.
    public var encoded: [UInt8] {
        [TLV(0x70, stored), TLV(0x71, [isCompressed ? 1 : 0]), TLV(0xFE, [])].encoded
    }

    /// The certificate, decompressed if necessary: gzip, zlib, or zlib after 01 00 and a two-byte length as written by
    /// Net iD. Zero bytes after it, up to a size that some cards fill, are dropped.
    public func certificate() throws(PIVError) -> [UInt8] {
        guard isCompressed else { return Self.unpadded(stored) }
        let limit = Self.inflatedLimit
        let inflated: [UInt8]?
        if stored.starts(with: Self.gzip) || Self.isZlib(stored) {
            inflated = Compression.inflate(stored, limit: limit)
        } else if stored.starts(with: [0x01, 0x00]), stored.count > 4 {
            let size = Int(stored[2]) | Int(stored[3]) << 8
            let bytes = Compression.inflate(Array(stored[4...]), limit: limit)
            inflated = bytes?.count == size ? bytes : nil
        } else {
            inflated = nil
        }
        guard let inflated else { throw .notInflated(limit: limit) }
        return inflated
    }

    private static func unpadded(_ der: [UInt8]) -> [UInt8] {
        var reader = ByteReader(der)
        guard (try? reader.tlv(0x30, "a certificate")) != nil else { return der }
        return der[reader.offset...].allSatisfy { $0 == 0 } ? Array(der[..<reader.offset]) : der
    }
}
