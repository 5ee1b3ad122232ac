// SPDX-License-Identifier: Apache-2.0

extension CBOR {
    /// The expected kind of a value, and how to extract it.
    public struct Kind<Value>: Sendable {
        let name: String
        let read: @Sendable (CBOR) -> Value?

        /// Creates a kind; `name` completes "expected …".
        public init(_ name: String, _ read: @escaping @Sendable (CBOR) -> Value?) {
            self.name = name
            self.read = read
        }
    }

    /// A map accessed by key. Errors name the message, the key, and the byte offset of the value.
    public struct Fields: Sendable {
        /// The map.
        public let map: Map
        private let what: String
        private let source: [UInt8]
        private let start: Int
        private let end: Int

        /// Decodes exactly one map; `what` names the message in errors.
        public init(decoding bytes: [UInt8], _ what: String, _ mode: Mode = .lenient) throws(WireError) {
            var reader = ByteReader(bytes)
            self = try reader.cborFields(what, mode)
            try reader.finish(what)
        }

        init(_ map: Map, _ what: String, _ source: [UInt8], _ place: Range<Int>) {
            self.map = map
            self.what = what
            self.source = source
            start = place.lowerBound
            end = place.upperBound
        }

        /// Returns the value of a key, or `nil` when it is absent.
        ///
        /// - Throws: `malformed` when the value is of the wrong kind.
        public func optional<Value>(_ key: CBOR, _ kind: Kind<Value>) throws(WireError) -> Value? {
            guard let item = map[key] else { return nil }
            guard let value = kind.read(item) else { throw mismatch(key, kind.name, item.kindName) }
            return value
        }

        /// Returns the value of a key.
        ///
        /// - Throws: `missing` when it is absent, `malformed` when it is of the wrong kind.
        public func required<Value>(_ key: CBOR, _ kind: Kind<Value>) throws(WireError) -> Value {
            guard let value = try optional(key, kind) else {
                throw WireError(.missing, at: start, "\(name(key)): expected \(kind.name), got nothing")
            }
            return value
        }

        /// Returns the elements of an array, or `nil` when it is absent.
        ///
        /// - Throws: `malformed` when the value or one of its elements is of the wrong kind.
        public func optionalList<Value>(_ key: CBOR, of kind: Kind<Value>) throws(WireError) -> [Value]? {
            guard let elements = try optional(key, .array) else { return nil }
            var values: [Value] = []
            values.reserveCapacity(elements.count)
            for (index, element) in elements.enumerated() {
                guard let value = kind.read(element) else {
                    throw mismatch(key, "an array of \(kind.name)", "\(element.kindName) as element \(index)")
                }
                values.append(value)
            }
            return values
        }

        /// Returns the map of a key for access by key, or `nil` when it is absent.
        public func optionalFields(_ key: CBOR) throws(WireError) -> Fields? {
            guard let inner = try optional(key, .map) else { return nil }
            let place = self.place(of: key) ?? start..<start
            return Fields(inner, name(key), source, place)
        }

        private func name(_ key: CBOR) -> String { "key \(key) of \(what)" }

        private func mismatch(_ key: CBOR, _ expected: String, _ found: String) -> WireError {
            WireError(
                .malformed, at: place(of: key)?.lowerBound ?? start, "\(name(key)): expected \(expected), got \(found)")
        }

        /// The byte range of a key's value in the message; computed on demand.
        public func place(of key: CBOR) -> Range<Int>? {
            var reader = ByteReader(source)
            guard (try? reader.reader(start)) != nil else { return nil }
            var cursor = reader.cborCursor
            guard let head = try? cursor.head() else { return nil }
            var left = head.isIndefinite ? UInt64.max : head.argument
            while left > 0, cursor.position < end {
                left -= 1
                let begin = cursor.position
                guard (try? cursor.skip()) != nil else { return nil }
                let found = Array(source[begin..<cursor.position])
                let value = cursor.position
                guard (try? cursor.skip()) != nil else { return nil }
                if let item = try? CBOR(decoding: found), item == key { return value..<cursor.position }
            }
            return nil
        }
    }
}

extension ByteReader {
    /// Reads one CBOR map for access by key and leaves the bytes after it; `what` names it in errors.
    public mutating func cborFields(_ what: String, _ mode: CBOR.Mode = .lenient) throws(WireError) -> CBOR.Fields {
        let start = offset
        let source = cborCursor.bytes
        let item = try cbor(mode)
        guard let map = item.map else {
            throw WireError(.malformed, at: start, "\(what): expected a map, got \(item.kindName)")
        }
        return CBOR.Fields(map, what, source, start..<offset)
    }
}

extension CBOR.Kind where Value == [UInt8] {
    /// A byte string.
    public static var bytes: Self { Self("bytes", \.bytes) }
}

extension CBOR.Kind where Value == String {
    /// A text string.
    public static var text: Self { Self("text", \.text) }
}

extension CBOR.Kind where Value == Bool {
    /// `false` or `true`.
    public static var bool: Self { Self("a boolean", \.bool) }
}

extension CBOR.Kind where Value == Int64 {
    /// An integer that fits a signed 64-bit integer.
    public static var int: Self { Self("an integer", \.int) }
}

extension CBOR.Kind where Value == UInt64 {
    /// A non-negative integer.
    public static var unsigned: Self { Self("a non-negative integer", \.unsigned) }
}

extension CBOR.Kind where Value == [CBOR] {
    /// An array.
    public static var array: Self { Self("an array", \.array) }
}

extension CBOR.Kind where Value == CBOR.Map {
    /// A map.
    public static var map: Self { Self("a map", \.map) }
}

extension CBOR.Kind where Value == CBOR {
    /// Anything.
    public static var any: Self { Self("anything") { $0 } }
}
