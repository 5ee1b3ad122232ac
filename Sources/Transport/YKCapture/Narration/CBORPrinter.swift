// SPDX-License-Identifier: Apache-2.0

import YKProtocols
import YKWire

/// The names of a map's keys and the format of some of its values.
struct CTAPKeys: Sendable {
    /// The name of the map.
    let name: String
    /// The names of its keys.
    let keys: [Int64: String]
    /// The keys of nested maps.
    let inner: [Int64: CTAPKeys]
    /// Custom formatters for values: several lines for a byte string.
    let values: [Int64: @Sendable (MaskedBytes) -> [String]]
    /// The names of enumerated values.
    let numbers: [Int64: @Sendable (Int64) -> String]

    init(
        _ name: String, _ keys: [Int64: String] = [:], inner: [Int64: CTAPKeys] = [:],
        values: [Int64: @Sendable (MaskedBytes) -> [String]] = [:],
        numbers: [Int64: @Sendable (Int64) -> String] = [:]
    ) {
        self.name = name
        self.keys = keys
        self.inner = inner
        self.values = values
        self.numbers = numbers
    }
}

extension CTAPKeys {
    /// The keys of a CTAP2 message.
    init<Key: CTAPKey>(
        _ name: String, _ keys: Key.Type, inner: [Key: CTAPKeys] = [:],
        values: [Key: @Sendable (MaskedBytes) -> [String]] = [:], numbers: [Key: @Sendable (Int64) -> String] = [:]
    ) {
        self.name = name
        self.keys = Key.namesByNumber
        self.inner = Self.byNumber(inner)
        self.values = Self.byNumber(values)
        self.numbers = Self.byNumber(numbers)
    }

    private static func byNumber<Key: CTAPKey, Value>(_ entries: [Key: Value]) -> [Int64: Value] {
        Dictionary(uniqueKeysWithValues: entries.map { ($0.key.rawValue, $0.value) })
    }
}

/// Prints encoded CBOR with names for map keys. Works on the bytes themselves, so that secrets stay hidden.
struct CBORPrinter {
    private let data: MaskedBytes
    private var cursor: CBORCursor

    private init(_ data: MaskedBytes, from start: Int = 0, to end: Int? = nil) {
        self.data = data
        cursor = CBORCursor(data.bytes, from: start, to: end)
    }

    /// Formats a map with one line per key; anything else, including invalid CBOR, is one line.
    static func lines(_ data: MaskedBytes, _ names: CTAPKeys) -> [String] {
        var printer = CBORPrinter(data)
        var lines: [String] = []
        do throws(WireError) {
            let head = try printer.cursor.head()
            guard head.major == 5, !head.isIndefinite else { return ["\(names.name) \(data.hex)"] }
            var left = head.argument
            while left > 0 {
                left -= 1
                lines += try printer.entry(names)
            }
            let rest = data.dropFirst(printer.cursor.position)
            return lines + (rest.isEmpty ? [] : ["left over: \(rest.hex)"])
        } catch {
            return lines + ["not CBOR, \(error): \(data.dropFirst(printer.cursor.position).hex)"]
        }
    }

    /// Formats a key and its value; a value with a custom formatter may take several lines.
    private mutating func entry(_ names: CTAPKeys) throws(WireError) -> [String] {
        let (key, name) = try self.key(names)
        let start = cursor.position
        if let key, let show = names.values[key], let content = try bytes() {
            return ["\(name):"] + show(content).map { "  \($0)" }
        }
        cursor = CBORCursor(data.bytes, from: start, to: cursor.end)
        return ["\(name): \(try value(key, names, depth: 8))"]
    }

    private mutating func key(_ names: CTAPKeys) throws(WireError) -> (Int64?, String) {
        let start = cursor.position
        let head = try cursor.head()
        guard head.major < 2, let number = Int64(exactly: head.argument) else {
            cursor = CBORCursor(data.bytes, from: start, to: cursor.end)
            return (nil, try item(names, depth: 8))
        }
        let key = head.major == 0 ? number : ~number
        return (key, names.keys[key].map { "\($0) (\(key))" } ?? "key \(key)")
    }

    private mutating func value(_ key: Int64?, _ names: CTAPKeys, depth: Int) throws(WireError) -> String {
        guard let key else { return try item(names, depth: depth) }
        let start = cursor.position
        if let name = names.numbers[key] {
            let head = try cursor.head()
            if head.major < 2, let number = Int64(exactly: head.argument) {
                return name(head.major == 0 ? number : ~number)
            }
            cursor = CBORCursor(data.bytes, from: start, to: cursor.end)
        }
        return try item(names.inner[key] ?? CTAPKeys(""), depth: depth)
    }

    /// The content of a byte string; `nil` for any other item.
    private mutating func bytes() throws(WireError) -> MaskedBytes? {
        let head = try cursor.head()
        guard head.major == 2, !head.isIndefinite else { return nil }
        return data[try cursor.run(head.argument)]
    }

    private mutating func item(_ names: CTAPKeys, depth: Int) throws(WireError) -> String {
        guard depth > 0 else { throw WireError(.tooDeep, at: cursor.position, "nested too deep") }
        let start = cursor.position
        let head = try cursor.head()
        if head.isIndefinite { throw WireError(.malformed, at: start, "an item of indefinite length") }
        switch head.major {
        case 0: return String(head.argument)
        case 1: return CBOR.negative(head.argument).description
        case 2: return data[try cursor.run(head.argument)].hex
        case 3: return data[try cursor.run(head.argument)].text
        case 4: return try array(head.argument, names, depth: depth - 1)
        case 5: return try map(head.argument, names, depth: depth - 1)
        case 6: return "\(head.argument)(\(try item(names, depth: depth - 1)))"
        default: return (try? CBOR(decoding: Array(data.bytes[start..<cursor.position])))?.description ?? "?"
        }
    }

    private mutating func array(_ count: UInt64, _ names: CTAPKeys, depth: Int) throws(WireError) -> String {
        var parts: [String] = []
        var left = count
        while left > 0 {
            left -= 1
            parts.append(try item(names, depth: depth))
        }
        return "[\(parts.joined(separator: ", "))]"
    }

    private mutating func map(_ count: UInt64, _ names: CTAPKeys, depth: Int) throws(WireError) -> String {
        var parts: [String] = []
        var left = count
        while left > 0 {
            left -= 1
            let start = cursor.position
            let head = try cursor.head()
            let number = head.major < 2 ? Int64(exactly: head.argument) : nil
            let key = number.map { head.major == 0 ? $0 : ~$0 }
            if key == nil { cursor = CBORCursor(data.bytes, from: start, to: cursor.end) }
            let name: String
            if let key {
                name = names.keys[key] ?? String(key)
            } else {
                name = try item(names, depth: depth).droppingQuotes
            }
            parts.append("\(name): \(try value(key, names, depth: depth))")
        }
        return "{\(parts.joined(separator: ", "))}"
    }
}
