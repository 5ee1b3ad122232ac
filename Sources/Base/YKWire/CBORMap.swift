// SPDX-License-Identifier: Apache-2.0

extension CBOR {
    /// A CBOR map (RFC 8949 §3.1): pairs in the order they were added or decoded, with unique keys.
    public struct Map: Sendable {
        /// One key and its value.
        public struct Entry: Hashable, Sendable {
            /// The key.
            public let key: CBOR
            /// The value.
            public var value: CBOR
        }

        /// The pairs in order.
        public private(set) var entries: [Entry] = []

        /// Creates an empty map.
        public init() {}

        init(entries: [Entry]) { self.entries = entries }

        /// The number of pairs.
        public var count: Int { entries.count }
        /// Whether the map is empty.
        public var isEmpty: Bool { entries.isEmpty }

        /// The value of a key; setting appends a new key at the end, setting `nil` removes it.
        public subscript(key: CBOR) -> CBOR? {
            get { entries.first { $0.key == key }?.value }
            set {
                let index = entries.firstIndex { $0.key == key }
                switch (index, newValue) {
                case (let index?, let value?): entries[index].value = value
                case (let index?, nil): entries.remove(at: index)
                case (nil, let value?): entries.append(Entry(key: key, value: value))
                case (nil, nil): break
                }
            }
        }

        /// The pairs in CTAP2's canonical key order (CTAP 2.1 §8).
        public var canonicalEntries: [Entry] {
            let isSorted = zip(entries, entries.dropFirst()).allSatisfy { $0.key.precedes($1.key) }
            return isSorted ? entries : entries.sorted { $0.key.precedes($1.key) }
        }
    }

    /// Whether this key precedes another in CTAP2's canonical order: the lower major type, then the shorter encoding,
    /// then the lower bytes (CTAP 2.1 §8).
    func precedes(_ other: CBOR) -> Bool {
        switch (self, other) {
        case (.unsigned(let mine), .unsigned(let theirs)), (.negative(let mine), .negative(let theirs)):
            return mine < theirs
        case (.bytes(let mine), .bytes(let theirs)):
            return mine.count == theirs.count ? mine.lexicographicallyPrecedes(theirs) : mine.count < theirs.count
        case (.text(let mine), .text(let theirs)):
            let (mine, theirs) = (mine.utf8, theirs.utf8)
            guard mine.count == theirs.count else { return mine.count < theirs.count }
            return zip(mine, theirs).first { $0 != $1 }.map { $0 < $1 } ?? false
        default:
            guard majorType == other.majorType else { return majorType < other.majorType }
            let (mine, theirs) = (encoded, other.encoded)
            return mine.count == theirs.count ? mine.lexicographicallyPrecedes(theirs) : mine.count < theirs.count
        }
    }

    var majorType: UInt8 {
        switch self {
        case .unsigned: 0
        case .negative: 1
        case .bytes: 2
        case .text: 3
        case .array: 4
        case .map: 5
        case .tagged: 6
        case .simple, .float: 7
        }
    }
}

extension CBOR.Map: Hashable {
    /// Whether both have the same keys with the same values, in any order.
    public static func == (mine: Self, theirs: Self) -> Bool {
        mine.entries == theirs.entries
            || mine.count == theirs.count && mine.canonicalEntries == theirs.canonicalEntries
    }

    /// Hashes the pairs in canonical order.
    public func hash(into hasher: inout Hasher) { hasher.combine(canonicalEntries) }
}

extension CBOR.Map: ExpressibleByDictionaryLiteral {
    /// The pairs in order; a duplicate key keeps its last value.
    public init(dictionaryLiteral elements: (CBOR, CBOR)...) {
        self.init()
        for (key, value) in elements { self[key] = value }
    }
}
