// SPDX-License-Identifier: Apache-2.0

package import YKWire

/// A part of a virtual key's state, stored as an object of the state file. One list of its fields serves both
/// directions.
package protocol StateRecord {
    /// A record to read into: a field that the file omits keeps its value.
    init()

    /// Visits the fields in the order of the file: reads each into its property, or writes it.
    mutating func visit(_ fields: inout StateFields) throws(StateFields.Fault)
}

extension StateRecord {
    /// The record as stored in the state file.
    package var json: JSONValue {
        var (record, fields) = (self, StateFields())
        try? record.visit(&fields)  // only reading throws
        return .object(fields.object)
    }

    /// Reads a record of the state file, which has no other fields than these.
    package init(_ json: JSONValue, path: String = "") throws(StateFields.Fault) {
        try self.init(try StateFields(reading: json, path: path))
    }

    fileprivate init(_ fields: StateFields) throws(StateFields.Fault) {
        self.init()
        var fields = fields
        try visit(&fields)
        // An unknown field would be lost at the next change, so it is rejected.
        if let member = fields.object.members.first { throw fields.fault(member.key, "unknown field") }
    }
}

/// The fields of an object in the state file while they are read, each once, or written.
package struct StateFields {
    /// What is left to read, or what was written.
    fileprivate var object = JSONValue.Object()
    private var path = ""
    /// Whether fields are read from the file.
    private(set) var isReading = false

    /// An invalid field and the reason.
    package struct Fault: Error, Hashable {
        package let field: String
        let reason: String
    }

    fileprivate init() {}

    fileprivate init(reading json: JSONValue, path: String) throws(Fault) {
        guard let object = json.object else { throw Fault(field: path, reason: "expected an object") }
        self.object = object
        self.path = path
        isReading = true
    }

    private func name(_ key: String) -> String { path.isEmpty ? key : "\(path).\(key)" }

    fileprivate func fault(_ key: String, _ reason: String) -> Fault { Fault(field: name(key), reason: reason) }

    /// Whether the file read has a field, or the file written gets it.
    func has(_ key: String, writing: Bool) -> Bool { isReading ? object[key] != nil : writing }

    fileprivate mutating func take<Value>(_ key: String, _ coding: StateCoding<Value>) throws(Fault) -> Value {
        defer { object[key] = nil }
        return try coding.read(object[key] ?? .null, name(key))
    }

    /// A field that each file has.
    mutating func callAsFunction<Value>(
        _ key: String, _ value: inout Value, _ coding: StateCoding<Value>
    ) throws(Fault) {
        if isReading {
            value = try take(key, coding)
        } else {
            object[key] = coding.write(value)
        }
    }

    /// A field that the file omits when it is `nil`.
    mutating func callAsFunction<Value>(
        _ key: String, _ value: inout Value?, _ coding: StateCoding<Value>
    ) throws(Fault) {
        if isReading {
            if object[key] != nil { value = try take(key, coding) }
        } else {
            object[key] = value.map(coding.write)
        }
    }

    /// A field that the file omits when it has a fresh record's value.
    mutating func callAsFunction<Value: Equatable>(
        _ key: String, _ value: inout Value, _ coding: StateCoding<Value>, unless fresh: Value
    ) throws(Fault) {
        if has(key, writing: value != fresh) { try self(key, &value, coding) }
    }

    /// A flag that the file omits when it is false.
    mutating func flag(_ key: String, _ value: inout Bool) throws(Fault) {
        try self(key, &value, .init("expected true or false", JSONValue.bool, \.bool), unless: false)
    }

    /// Checks what was read.
    func check(_ key: String, _ isValid: Bool, _ reason: String) throws(Fault) {
        if isReading, !isValid { throw fault(key, reason) }
    }

    /// Checks that no two records of a list that was read have the same name.
    func unique(_ list: String, _ field: String, _ names: [some Equatable], _ reason: String) throws(Fault) {
        for (index, name) in names.enumerated() {
            try check("\(list)[\(index)].\(field)", names.firstIndex(of: name) == index, reason)
        }
    }
}

/// How a value is written to the state file, and read from it.
struct StateCoding<Value> {
    let write: (Value) -> JSONValue
    /// The parameters are the stored value, `null` if there is none, and its name.
    let read: (JSONValue, String) throws(StateFields.Fault) -> Value

    init(
        write: @escaping (Value) -> JSONValue,
        read: @escaping (JSONValue, String) throws(StateFields.Fault) -> Value
    ) {
        self.write = write
        self.read = read
    }

    init(_ expected: String, _ write: @escaping (Value) -> JSONValue, _ read: @escaping (JSONValue) -> Value?) {
        self.init(write: write) { json, name throws(StateFields.Fault) in
            guard let value = read(json) else { throw StateFields.Fault(field: name, reason: expected) }
            return value
        }
    }

    /// A value that is stored as another one.
    func converted<Other>(
        _ expected: String, to write: @escaping (Other) -> Value, from read: @escaping (Value) -> Other?
    ) -> StateCoding<Other> {
        .init(write: { self.write(write($0)) }) { json, name throws(StateFields.Fault) in
            guard let value = read(try self.read(json, name)) else {
                throw StateFields.Fault(field: name, reason: expected)
            }
            return value
        }
    }

    /// One of several values, stored as their names.
    static func choice(_ choices: [(String, Value)]) -> Self where Value: Equatable {
        StateCoding<String>.text.converted("expected one of \(choices.map(\.0).joined(separator: ", "))") { value in
            choices.first { $0.1 == value }?.0 ?? ""
        } from: { name in
            choices.first { $0.0 == name }?.1
        }
    }

    /// An array.
    static func list<Element>(_ element: StateCoding<Element>, count: Int? = nil) -> Self where Value == [Element] {
        .init(write: { .array($0.map(element.write)) }) { json, name throws(StateFields.Fault) in
            guard let stored = json.array, stored.count == count ?? stored.count else {
                throw StateFields.Fault(
                    field: name, reason: "expected an array" + (count.map { " of \($0) elements" } ?? ""))
            }
            var elements: [Element] = []
            for (index, json) in stored.enumerated() { elements.append(try element.read(json, "\(name)[\(index)]")) }
            return elements
        }
    }

    /// A dictionary, stored as an array of objects that have the key too, in the order of its number.
    static func entries<Key, Entry: StateRecord>(
        by field: String, _ key: StateCoding<Key>, order number: @escaping (Key) -> UInt32
    ) -> Self where Value == [Key: Entry] {
        .init { entries in
            .array(
                entries.sorted { number($0.key) < number($1.key) }.map { name, entry in
                    var (name, entry, fields) = (name, entry, StateFields())
                    try? fields(field, &name, key)
                    try? entry.visit(&fields)
                    return .object(fields.object)
                })
        } read: { json, path throws(StateFields.Fault) in
            var entries: [Key: Entry] = [:]
            for var fields in try StateCoding<[StateFields]>.list(.object).read(json, path) {
                let name = try fields.take(field, key)
                try fields.check(field, entries[name] == nil, "another entry has this \(field)")
                entries[name] = try Entry(fields)
            }
            return entries
        }
    }

    /// Data objects by tag.
    static func objects<Tag>(
        _ tag: StateCoding<Tag>, order number: @escaping (Tag) -> UInt32
    ) -> Self where Value == [Tag: [UInt8]] {
        StateCoding<[Tag: StoredObject]>.entries(by: "tag", tag, order: number)
            .converted("") {
                $0.mapValues(StoredObject.init)
            } from: {
                $0.mapValues(\.content)
            }
    }
}

/// The content of a data object.
private struct StoredObject: StateRecord {
    var content: [UInt8] = []

    mutating func visit(_ fields: inout StateFields) throws(StateFields.Fault) {
        try fields("content", &content, .bytes)
    }
}

extension StateCoding where Value: StateRecord {
    /// An object.
    static var record: Self {
        .init(write: \.json) { json, name throws(StateFields.Fault) in try Value(json, path: name) }
    }
}

extension StateCoding<StateFields> {
    /// An object whose fields are read one by one.
    static var object: Self {
        .init(write: { .object($0.object) }) { json, name throws(StateFields.Fault) in
            try StateFields(reading: json, path: name)
        }
    }
}

extension StateCoding where Value: FixedWidthInteger {
    /// A number in a range.
    static func number(_ range: ClosedRange<Value>) -> Self {
        .init("expected a number from \(range.lowerBound) to \(range.upperBound)", { .int(Int64(clamping: $0)) }) {
            $0.int.flatMap(Value.init(exactly:)).flatMap { range.contains($0) ? $0 : nil }
        }
    }
}

extension StateCoding<UInt64> {
    /// A number of 64 bits, stored with a sign.
    static var bitPattern: Self {
        .init("expected a number", { .int(Int64(bitPattern: $0)) }, { $0.int.map(UInt64.init(bitPattern:)) })
    }
}

extension StateCoding<String> {
    /// A string.
    static var text: Self { .init("expected a string", JSONValue.string, \.string) }
}

extension StateCoding<[UInt8]> {
    /// Bytes, stored in hexadecimal.
    static var bytes: Self {
        StateCoding<String>.text.converted("expected hexadecimal digits", to: Hex.encode) { try? Hex.decode($0) }
    }

    /// So many bytes, stored in hexadecimal.
    static func bytes(_ counts: ClosedRange<Int>) -> Self {
        let count = counts.count == 1 ? "\(counts.lowerBound)" : "\(counts.lowerBound) to \(counts.upperBound)"
        return bytes.converted("expected \(count) bytes", to: { $0 }, from: { counts.contains($0.count) ? $0 : nil })
    }
}
