// SPDX-License-Identifier: Apache-2.0

import YKProtocols
import YKTransport
import YKWire

/// A Type 4 tag's application, selected on a channel (NFC Forum Type 4 Tag 2.0 §7.2, the NDEF detection procedure).
final class TagSession {
    let channel: CardChannel
    /// Maximum number of times that reading is restarted after a reset of the tag.
    private static let attempts = 3
    /// Maximum size of a message, in bytes.
    static let limit = 1 << 20
    /// The deadline of the whole read: a tag that sends a byte at a time, each just in time, must not block it forever.
    private var deadline: Deadline

    init(_ channel: CardChannel) throws(TagError) {
        self.channel = channel
        deadline = channel.environment.deadline()
        try lift(TagError.init) { () throws(CardError) in
            do throws(CardError) { _ = try channel.select(.ndef) } catch {
                guard case .appletMissing = error else { throw error }
                // A tag of mapping version 1 has only the older name.
                _ = try channel.select(.ndefVersion1)
            }
        }
    }

    /// The capability container.
    func capabilities() throws(TagError) -> CapabilityContainer {
        try anew { () throws(TagError) in try readCapabilities() }
    }

    /// Reads capability container and message, restarting if the tag was reset or its content changed meanwhile.
    func content() throws(TagError) -> TagContent {
        try anew { () throws(TagError) in
            let container = try readCapabilities()
            guard container.readAccess == 0 else { throw .protected(access: container.readAccess) }
            try select(container.file)
            return try read(container).map { TagContent(capabilities: container, bytes: $0) }
        }
    }

    private func anew<Value>(_ body: () throws(TagError) -> Value?) throws(TagError) -> Value {
        deadline = channel.environment.deadline()
        for _ in 0..<Self.attempts {
            do {
                if let value = try body() { return value }
            } catch {
                guard case .card(.link(.reset)) = error else { throw error }
            }
        }
        throw .unsteady
    }

    private func readCapabilities() throws(TagError) -> CapabilityContainer {
        try select(CapabilityContainer.fileID)
        var bytes = try piece(at: 0, CapabilityContainer.shortest)
        let length = try malformed { () throws(WireError) in try CapabilityContainer.length(bytes) }
        while bytes.count < length {
            bytes += try piece(at: bytes.count, min(length - bytes.count, CapabilityContainer.shortest))
        }
        return try malformed { () throws(WireError) in try CapabilityContainer(decoding: bytes) }
    }

    /// Reads the message in the selected file: its length first, then pieces no longer than the tag allows; `nil` if
    /// the length had changed when the first piece was read.
    private func read(_ container: CapabilityContainer) throws(TagError) -> [UInt8]? {
        let width = container.lengthWidth
        let head = try piece(at: 0, width)
        let length = try length(head, in: container)
        guard length > 0 else { return [] }
        let most = Int(min(container.readLimit, 255))
        var bytes: [UInt8] = []
        while bytes.count < width + length {
            bytes += try piece(at: bytes.count, min(most, width + length - bytes.count))
            guard bytes.starts(with: head.prefix(bytes.count)) else { return nil }
        }
        return Array(bytes.dropFirst(width))
    }

    private func length(_ head: [UInt8], in container: CapabilityContainer) throws(TagError) -> Int {
        try malformed { () throws(WireError) in
            var reader = ByteReader(head)
            let length = Int(try reader.bigEndian(container.lengthWidth, "the length of the message"))
            let room = Int(container.fileSize) - container.lengthWidth
            guard length <= room else {
                throw WireError(.tooLarge, at: 0, "a message of \(length) bytes in a file with room for \(room)")
            }
            guard length <= Self.limit else { throw WireError(.tooLarge, at: 0, "a message of \(length) bytes") }
            return length
        }
    }

    private func select(_ file: UInt16) throws(TagError) {
        try lift(TagError.init) { () throws(CardError) in try channel.send(SelectFile(file: file)) }
    }

    private func piece(at offset: Int, _ count: Int) throws(TagError) -> [UInt8] {
        let count = UInt8(clamping: count)
        return try lift(TagError.init) { () throws(CardError) in
            try lift(CardError.link) { () throws(LinkError) in try deadline.check("the tag to be read") }
            guard let near = UInt16(exactly: offset), near < 0x8000 else {
                return try channel.send(ReadBinaryFar(offset: UInt32(clamping: offset), count: count))
            }
            return try channel.send(ReadBinary(offset: near, count: count))
        }
    }

    private func malformed<Value>(_ body: () throws(WireError) -> Value) throws(TagError) -> Value {
        try lift(TagError.malformed, body)
    }
}

/// SELECT of a file by its identifier, without response data (ISO 7816-4 §11.2.2; NFC Forum Type 4 Tag 2.0 §5.4.2).
struct SelectFile: CardCommand {
    static let name = "SELECT"
    let file: UInt16

    var apdu: APDU {
        APDU(ins: ISO7816.select, p1: 0x00, p2: 0x0C, data: [UInt8(file >> 8), UInt8(truncatingIfNeeded: file)])
    }

    func decode(_ reader: inout ByteReader) {}
}

/// READ BINARY from an offset of at most 32767 (ISO 7816-4 §11.3.3; NFC Forum Type 4 Tag 2.0 §5.4.3).
struct ReadBinary: CardCommand {
    static let name = "READ BINARY"
    let offset: UInt16
    let count: UInt8

    var apdu: APDU {
        APDU(ins: ISO7816.readBinary, parameters: offset, le: .bytes(UInt16(count)))
    }

    /// The requested bytes; extra bytes are dropped.
    func decode(_ reader: inout ByteReader) throws(WireError) -> [UInt8] {
        guard !reader.isAtEnd else { throw WireError(.truncated, at: 0, "an empty piece of a file") }
        return Array(reader.rest().prefix(Int(count)))
    }
}

/// READ BINARY with the offset in a data object, for offsets above 32767 (ISO 7816-4 §11.3.3, odd instruction).
struct ReadBinaryFar: CardCommand {
    static let name = "READ BINARY"
    let offset: UInt32
    let count: UInt8

    var apdu: APDU {
        var writer = ByteWriter(capacity: 5)
        writer.append([0x54, 0x03])
        writer.bigEndian(UInt64(offset), 3)
        return APDU(ins: ISO7816.readBinaryExtended, data: writer.bytes, le: .bytes(UInt16(count)))
    }

    /// A data object 53 with the requested bytes.
    func decode(_ reader: inout ByteReader) throws(WireError) -> [UInt8] {
        let objects = try reader.tlvs()
        guard let value = objects.value(0x53), !value.isEmpty else {
            throw WireError(.missing, at: 0, "an empty piece of a file")
        }
        return Array(value.prefix(Int(count)))
    }
}
