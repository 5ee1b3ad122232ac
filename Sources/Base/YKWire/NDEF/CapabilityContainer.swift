// SPDX-License-Identifier: Apache-2.0

/// The capability container of a Type 4 tag: the command size limits and the location of the message (NFC Forum Type 4
/// Tag 2.0 §5.1).
public struct CapabilityContainer: Hashable, Sendable {
    /// The version of the mapping: 20 is 2.0.
    public var version: UInt8
    /// The maximum number of bytes that one READ BINARY returns.
    public var readLimit: UInt16
    /// The maximum number of bytes that one UPDATE BINARY accepts.
    public var writeLimit: UInt16
    /// The identifier of the file with the message.
    public var file: UInt16
    /// The maximum size of the file in bytes, including its length field.
    public var fileSize: UInt32
    /// The width of the file's length field, in bytes: 2, or 4 in a file of more than 64 KiB (version 3.0).
    public var lengthWidth: Int
    /// The read access condition: 00 for everyone.
    public var readAccess: UInt8
    /// The write access condition: 00 for everyone, FF for no one.
    public var writeAccess: UInt8

    /// The file identifier of the container.
    public static let fileID: UInt16 = 0xE103
    /// The number of bytes to read first: everything up to the end of the first control object.
    public static let shortest = 15

    /// Creates a version 2.0 container for a file that everyone may read and no one may write.
    public init(file: UInt16 = 0xE104, fileSize: UInt16, readLimit: UInt16, writeAccess: UInt8 = 0xFF) {
        version = 0x20
        self.readLimit = readLimit
        writeLimit = 0
        self.file = file
        self.fileSize = UInt32(fileSize)
        lengthWidth = 2
        readAccess = 0
        self.writeAccess = writeAccess
    }
}

extension CapabilityContainer {
    /// The total length in bytes, from the first two bytes.
    ///
    /// - Throws: `tooLarge` or `truncated` for an impossible length.
    public static func length(_ bytes: [UInt8]) throws(WireError) -> Int {
        var reader = ByteReader(bytes)
        let length = Int(try reader.uint16("the length of the capability container"))
        guard length >= shortest else {
            throw WireError(.truncated, at: 0, "a capability container of \(length) bytes, expected \(shortest)")
        }
        guard length <= 4096 else { throw WireError(.tooLarge, at: 0, "a capability container of \(length) bytes") }
        return length
    }

    /// Decodes a container; bytes beyond its length are ignored.
    public init(decoding bytes: [UInt8]) throws(WireError) {
        let length = try Self.length(bytes)
        var whole = ByteReader(bytes)
        var reader = try whole.reader(length, "the capability container")
        _ = try reader.uint16()
        version = try reader.byte("the version")
        guard (1...3).contains(version >> 4) else {
            throw WireError(.malformed, at: 2, "mapping version \(version >> 4).\(version & 15), supported are 1 to 3")
        }
        readLimit = try reader.uint16("the most to read")
        writeLimit = try reader.uint16("the most to write")
        guard readLimit >= Self.shortest else {
            throw WireError(.malformed, at: 3, "at most \(readLimit) bytes a read, expected \(Self.shortest) or more")
        }
        var control = try Self.control(&reader)
        file = try control.uint16("the file identifier")
        lengthWidth = control.remaining == 6 ? 4 : 2
        fileSize = UInt32(truncatingIfNeeded: try control.bigEndian(lengthWidth, "the size of the file"))
        readAccess = try control.byte("the read access")
        writeAccess = try control.byte("the write access")
        guard ![0x0000, 0xE102, 0xE103, 0x3F00, 0x3FFF, 0xFFFF].contains(file) || file == 0 && version < 0x20 else {
            throw WireError(.malformed, at: 9, "file \(Hex.encode([UInt8(file >> 8), UInt8(file & 0xFF)])) is reserved")
        }
        guard fileSize >= 5, lengthWidth == 4 || fileSize < 0xFFFF else {
            throw WireError(.malformed, at: 11, "a file of \(fileSize) bytes")
        }
    }

    /// The first object that locates the message: tag 04, or 06 for a file of more than 64 KiB (version 3.0 §4.3);
    /// objects of proprietary files are skipped.
    private static func control(_ reader: inout ByteReader) throws(WireError) -> ByteReader {
        while !reader.isAtEnd {
            let start = reader.offset
            let tag = try reader.byte("a control object")
            let value = try reader.reader(Int(try reader.byte("its length")), "a control object")
            switch (tag, value.remaining) {
            case (0x04, 6), (0x06, 8): return value
            case (0x04, _), (0x06, _):
                throw WireError(.malformed, at: start, "a control object of \(value.remaining) bytes")
            default: continue
            }
        }
        throw WireError(.missing, at: reader.offset, "no control object of a message")
    }

    /// The encoded container, with one control object.
    public var encoded: [UInt8] {
        var writer = ByteWriter(capacity: 17)
        writer.bigEndian(lengthWidth == 4 ? 17 : 15, 2)
        writer.byte(version)
        writer.bigEndian(UInt64(readLimit), 2)
        writer.bigEndian(UInt64(writeLimit), 2)
        writer.append(lengthWidth == 4 ? [0x06, 8] : [0x04, 6])
        writer.bigEndian(UInt64(file), 2)
        writer.bigEndian(UInt64(fileSize), lengthWidth)
        writer.append([readAccess, writeAccess])
        return writer.bytes
    }
}
