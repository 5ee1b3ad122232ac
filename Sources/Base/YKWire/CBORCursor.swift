// SPDX-License-Identifier: Apache-2.0

/// Walks encoded CBOR head by head without building values; the basis of the decoder, also used to locate values.
package struct CBORCursor {
    /// The head of an item (RFC 8949 §3): its major type, how its argument is written, and the argument.
    package struct Head {
        package let major: UInt8
        /// The low five bits of the first byte; 31 is an indefinite length or the end mark.
        package let info: UInt8
        package let argument: UInt64

        package var isIndefinite: Bool { info == 31 }
        /// Whether this is the end mark of an item of indefinite length.
        package var isBreak: Bool { info == 31 && major == 7 }
        /// Whether a shorter head could encode the same argument.
        var isOverlong: Bool {
            switch info {
            case 24: major != 7 && argument < 24
            case 25: major != 7 && argument <= 0xFF
            case 26: major != 7 && argument <= 0xFFFF
            case 27: major != 7 && argument <= 0xFFFF_FFFF
            default: false
            }
        }
    }

    package let bytes: [UInt8]
    package let end: Int
    /// The offset of the next byte.
    package private(set) var position: Int

    /// Walks `bytes` from one offset to another.
    package init(_ bytes: [UInt8], from start: Int = 0, to end: Int? = nil) {
        self.bytes = bytes
        self.end = min(bytes.count, end ?? bytes.count)
        position = min(max(0, start), self.end)
    }

    package var isAtEnd: Bool { position >= end }
    package var remaining: Int { end - position }

    /// Reads the head of an item.
    package mutating func head() throws(WireError) -> Head {
        guard position < end else { throw WireError(.truncated, at: position, "the CBOR item is missing") }
        let first = bytes[position]
        let info = first & 31
        if info < 24 {
            position += 1
            return Head(major: first >> 5, info: info, argument: UInt64(info))
        }
        guard info < 28 else { return try special(first >> 5, info) }
        let count = 1 << Int(info - 24)
        guard remaining > count else {
            throw WireError(.truncated, at: position, "the head of a CBOR item is truncated")
        }
        var argument: UInt64 = 0
        for index in (position + 1)...(position + count) { argument = argument << 8 | UInt64(bytes[index]) }
        position += 1 + count
        return Head(major: first >> 5, info: info, argument: argument)
    }

    private mutating func special(_ major: UInt8, _ info: UInt8) throws(WireError) -> Head {
        guard info == 31, major != 0, major != 1, major != 6 else {
            throw WireError(.malformed, at: position, "a reserved CBOR head")
        }
        position += 1
        return Head(major: major, info: info, argument: 0)
    }

    /// Reads the string whose head was just read, and returns the range of its bytes.
    package mutating func run(_ length: UInt64) throws(WireError) -> Range<Int> {
        guard let count = Int(exactly: length), count <= remaining else {
            throw WireError(.truncated, at: position, "a CBOR string of \(length) bytes, \(remaining) left")
        }
        defer { position += count }
        return position..<(position + count)
    }

    /// Skips one whole item; nesting deeper than `depth` throws `tooDeep`.
    package mutating func skip(depth: Int = 16) throws(WireError) {
        let start = position
        guard depth >= 0 else { throw WireError(.tooDeep, at: start, "CBOR nested too deeply") }
        let head = try head()
        switch head.major {
        case 2 where !head.isIndefinite, 3 where !head.isIndefinite: _ = try run(head.argument)
        case 2, 3, 4, 5:
            if head.isIndefinite { return try skipToBreak(depth: depth - 1) }
            let perItem: UInt64 = head.major == 5 ? 2 : 1
            guard head.argument <= UInt64(remaining) / perItem else {
                throw WireError(.truncated, at: start, "\(head.argument) CBOR items announced, \(remaining) bytes left")
            }
            for _ in 0..<(head.argument * perItem) { try skip(depth: depth - 1) }
        case 6: try skip(depth: depth - 1)
        default: break
        }
    }

    private mutating func skipToBreak(depth: Int) throws(WireError) {
        while true {
            if !isAtEnd, bytes[position] == 0xFF {
                position += 1
                return
            }
            try skip(depth: depth)
        }
    }
}
