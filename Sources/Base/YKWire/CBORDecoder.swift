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
