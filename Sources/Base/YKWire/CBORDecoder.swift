// SPDX-License-Identifier: Apache-2.0

/// Builds items from encoded CBOR (RFC 8949 §3).
struct CBORDecoder {
    var cursor: CBORCursor
    private(set) var warnings: [CBOR.Warning] = []
    private let mode: CBOR.Mode
    private let limits: CBOR.Limits

    init(_ cursor: CBORCursor, _ mode: CBOR.Mode, _ limits: CBOR.Limits) {
        self.cursor = cursor
        self.mode = mode
        self.limits = limits
    }

    mutating func value(depth: Int) throws(WireError) -> CBOR {
        let start = cursor.position
        let head = try cursor.head()
        if head.isOverlong { try note(start, "a CBOR head that is longer than necessary") }
        switch head.major {
        case 0: return .unsigned(head.argument)
        case 1: return .negative(head.argument)
        case 2: return .bytes(try bytes(head, start))
        case 3: return .text(try text(head, start))
        case 4: return .array(try array(head, start, depth: try deeper(depth, start)))
        case 5: return .map(try map(head, start, depth: try deeper(depth, start)))
        case 6:
            try note(start, "a CBOR tag")
            return .tagged(head.argument, try value(depth: try deeper(depth, start)))
        default: return try simple(head, start)
        }
    }

    private func deeper(_ depth: Int, _ start: Int) throws(WireError) -> Int {
        guard depth > 0 else { throw WireError(.tooDeep, at: start, "CBOR nested deeper than \(limits.depth) levels") }
        return depth - 1
    }

    private mutating func note(_ offset: Int, _ reason: String) throws(WireError) {
        guard mode == .lenient else { throw WireError(.malformed, at: offset, reason) }
        if warnings.count < 100 { warnings.append(.init(offset: offset, reason: reason)) }
    }

    private mutating func bytes(_ head: CBORCursor.Head, _ start: Int) throws(WireError) -> [UInt8] {
        guard head.isIndefinite else { return Array(cursor.bytes[try cursor.run(head.argument)]) }
        try note(start, "a CBOR string of indefinite length")
        var joined: [UInt8] = []
        while true {
            let position = cursor.position
            let chunk = try cursor.head()
            if chunk.isBreak { return joined }
            guard chunk.major == head.major, !chunk.isIndefinite else {
                throw WireError(.malformed, at: position, "a chunk of the wrong kind in a CBOR string")
            }
            joined += cursor.bytes[try cursor.run(chunk.argument)]
        }
    }

    private mutating func text(_ head: CBORCursor.Head, _ start: Int) throws(WireError) -> String {
        let bytes = head.isIndefinite ? try bytes(head, start)[...] : cursor.bytes[try cursor.run(head.argument)]
        if let text = Self.text(bytes) { return text }
        try note(start, "a CBOR text string that is not UTF-8")
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Decodes UTF-8; ASCII, which most strings are, needs no validation. An invalid end becomes U+FFFD: some keys
    /// truncate names after 64 bytes, in the middle of a character (WebAuthn Level 3 §6.4.1).
    private static func text(_ bytes: ArraySlice<UInt8>) -> String? {
        bytes.withUnsafeBufferPointer { buffer in
            buffer.allSatisfy { $0 < 0x80 }
                ? String(decoding: buffer, as: UTF8.self) : String(validating: buffer, as: UTF8.self)
        }
    }

    /// Checks an announced number of items against the bytes left, before any memory is reserved for them.
    private func announced(_ head: CBORCursor.Head, _ start: Int, bytesEach: Int) throws(WireError) -> Int {
        guard let count = Int(exactly: head.argument), count <= cursor.remaining / bytesEach else {
            throw WireError(
                .truncated, at: start, "\(head.argument) CBOR items announced, \(cursor.remaining) bytes left")
        }
        return count
    }

    private mutating func array(_ head: CBORCursor.Head, _ start: Int, depth: Int) throws(WireError) -> [CBOR] {
        var elements: [CBOR] = []
        if head.isIndefinite {
            try note(start, "a CBOR array of indefinite length")
            while try !takeBreak() { elements.append(try value(depth: depth)) }
            return elements
        }
        let count = try announced(head, start, bytesEach: 1)
        elements.reserveCapacity(count)
        for _ in 0..<count { elements.append(try value(depth: depth)) }
        return elements
    }

    private mutating func map(_ head: CBORCursor.Head, _ start: Int, depth: Int) throws(WireError) -> CBOR.Map {
        var pairs = Pairs()
        if head.isIndefinite {
            try note(start, "a CBOR map of indefinite length")
            while try !takeBreak() { try pair(&pairs, depth: depth) }
        } else {
            let count = try announced(head, start, bytesEach: 2)
            pairs.entries.reserveCapacity(count)
            for _ in 0..<count { try pair(&pairs, depth: depth) }
        }
        return CBOR.Map(entries: pairs.entries)
    }

    private mutating func pair(_ pairs: inout Pairs, depth: Int) throws(WireError) {
        let start = cursor.position
        let key = try value(depth: depth)
        if let last = pairs.entries.last, !last.key.precedes(key) || pairs.isDisordered {
            guard pairs.isNew(key) else { throw WireError(.duplicate, at: start, "a duplicate CBOR map key") }
            if !last.key.precedes(key) { try note(start, "a CBOR map key out of order") }
        }
        pairs.entries.append(.init(key: key, value: try value(depth: depth)))
    }

    /// The pairs of a map that is being decoded. While keys arrive in order there can be no duplicates; after that each
    /// key is looked up, in a long map with a set.
    private struct Pairs {
        static let short = 32
        var entries: [CBOR.Map.Entry] = []
        var isDisordered = false
        private var keys: Set<CBOR>?

        mutating func isNew(_ key: CBOR) -> Bool {
            isDisordered = true
            if entries.count < Self.short { return !entries.contains { $0.key == key } }
            var known = keys ?? Set(entries.map(\.key))
            keys = nil
            defer { keys = known }
            return known.insert(key).inserted
        }
    }

    private mutating func takeBreak() throws(WireError) -> Bool {
        guard !cursor.isAtEnd else {
            throw WireError(.truncated, at: cursor.position, "a CBOR item of indefinite length does not end")
        }
        guard cursor.bytes[cursor.position] == 0xFF else { return false }
        _ = try cursor.head()
        return true
    }

    private func simple(_ head: CBORCursor.Head, _ start: Int) throws(WireError) -> CBOR {
        switch head.info {
        case 0..<24: return .simple(head.info)
        case 24 where head.argument >= 32: return .simple(UInt8(truncatingIfNeeded: head.argument))
        case 25...27: return .float(.init(bits: head.argument, width: 1 << Int(head.info - 24)))
        case 31: throw WireError(.malformed, at: start, "an end mark where a CBOR item should be")
        default: throw WireError(.malformed, at: start, "a simple value in two bytes that needs one")
        }
    }
}

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
