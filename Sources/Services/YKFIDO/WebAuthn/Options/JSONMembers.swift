// SPDX-License-Identifier: Apache-2.0

package import YKWire

/// The members of a JSON object, read by name. An error has the member's path, what was expected, and what was found. A
/// member that is `null` is treated as absent.
package struct JSONMembers {
    package let object: JSONValue.Object
    private let path: String

    /// Wraps an object; throws an error for `path` if the value is anything else.
    package init(_ json: JSONValue, at path: String = "") throws(WebAuthnError) {
        guard let object = json.object else {
            throw .member(path.isEmpty ? "the value" : path, problem: "expected object, got \(json.kindName)")
        }
        self.object = object
        self.path = path
    }

    package init(_ object: JSONValue.Object, at path: String) {
        self.object = object
        self.path = path
    }

    /// The expected type of a member, and its conversion.
    package struct Kind<Value> {
        let name: String
        let read: (JSONValue) -> Value?
    }

    /// The path of a member.
    package func path(of key: String) -> String { path.isEmpty ? key : "\(path).\(key)" }

    /// The member, unless it is absent or `null`.
    package subscript(key: String) -> JSONValue? {
        guard let value = object[key], value != .null else { return nil }
        return value
    }

    package func optional<Value>(_ key: String, _ kind: Kind<Value>) throws(WebAuthnError) -> Value? {
        guard let json = self[key] else { return nil }
        return try Self.read(json, kind, at: path(of: key))
    }

    package func required<Value>(_ key: String, _ kind: Kind<Value>) throws(WebAuthnError) -> Value {
        guard let value = try optional(key, kind) else { throw missing(key, kind.name) }
        return value
    }

    /// The elements of an array, each of one kind.
    package func list<Value>(_ key: String, of kind: Kind<Value>) throws(WebAuthnError) -> [Value]? {
        guard let elements = try optional(key, .array) else { return nil }
        var values: [Value] = []
        for (index, element) in elements.enumerated() {
            values.append(try Self.read(element, kind, at: "\(path(of: key))[\(index)]"))
        }
        return values
    }

    /// The members of an object.
    package func members(_ key: String) throws(WebAuthnError) -> JSONMembers? {
        guard let json = self[key] else { return nil }
        return try JSONMembers(json, at: path(of: key))
    }

    func requiredMembers(_ key: String) throws(WebAuthnError) -> JSONMembers {
        guard let members = try members(key) else { throw missing(key, "object") }
        return members
    }

    /// The members of each object in an array.
    package func membersList(_ key: String) throws(WebAuthnError) -> [JSONMembers]? {
        guard let elements = try optional(key, .array) else { return nil }
        var list: [JSONMembers] = []
        for (index, element) in elements.enumerated() {
            list.append(try JSONMembers(element, at: "\(path(of: key))[\(index)]"))
        }
        return list
    }

    private func missing(_ key: String, _ expected: String) -> WebAuthnError {
        .member(path(of: key), problem: "expected \(expected), got nothing")
    }

    private static func read<Value>(
        _ json: JSONValue, _ kind: Kind<Value>, at path: String
    ) throws(WebAuthnError) -> Value {
        guard let value = kind.read(json) else {
            throw .member(path, problem: "expected \(kind.name), got \(json.kindName)")
        }
        return value
    }
}

extension JSONMembers.Kind where Value == String {
    package static var string: Self { Self(name: "string", read: \.string) }
}

extension JSONMembers.Kind where Value == Bool {
    package static var bool: Self { Self(name: "boolean", read: \.bool) }
}

extension JSONMembers.Kind where Value == Int64 {
    package static var int: Self { Self(name: "whole number", read: \.int) }

    /// A whole number, also as a string, which browsers convert (Web IDL §3.2.4).
    package static var long: Self {
        Self(name: "whole number") { $0.int ?? $0.string.flatMap { Int64($0.trimmed) } }
    }
}

extension JSONMembers.Kind where Value == UInt64 {
    /// A non-negative number, also as a string; a fraction is truncated, as in Web IDL.
    package static var unsigned: Self {
        Self(name: "non-negative number") { json in
            let text = json.string.flatMap { Int64($0.trimmed) }
            guard let number = json.number ?? text.map({ Double($0) }) else { return nil }
            return number.isFinite && number >= 0 && number < 0x1p53 ? UInt64(number) : nil
        }
    }
}

extension JSONMembers.Kind where Value == [UInt8] {
    /// Bytes as base64url; padding and the standard alphabet are accepted too.
    package static var bytes: Self {
        Self(name: "base64url") { json in json.string.flatMap { try? Base64.decode($0) } }
    }
}

extension JSONMembers.Kind where Value == [JSONValue] {
    package static var array: Self { Self(name: "array", read: \.array) }
}

extension JSONMembers.Kind where Value == JSONValue.Object {
    package static var object: Self { Self(name: "object", read: \.object) }
}

extension JSONValue {
    /// The type of this value, in a word.
    var kindName: String {
        switch self {
        case .null: "null"
        case .bool: "boolean"
        case .int, .double: "number"
        case .string: "string"
        case .array: "array"
        case .object: "object"
        }
    }

    /// Bytes as base64url.
    package static func bytes(_ bytes: [UInt8]) -> JSONValue { .string(Base64.encodeURL(bytes)) }

    /// Parses JSON, bare or under `publicKey`.
    static func publicKeyOptions(_ text: [UInt8]) throws(WebAuthnError) -> JSONValue {
        do { return try JSONValue(parsing: text).underPublicKey } catch { throw .json(error) }
    }

    /// The value of `publicKey`, otherwise the value itself.
    var underPublicKey: JSONValue { self["publicKey"].flatMap { $0.object == nil ? nil : $0 } ?? self }
}

extension JSONValue.Object {
    /// Creates an object with these members, except those that are `nil`.
    package init(_ members: [(String, JSONValue?)]) {
        self.init()
        for (key, value) in members { self[key] = value }
    }
}

extension Duration {
    /// Whole milliseconds, as WebAuthn and CTAP state timeouts; 0 for a negative duration, clamped to 64 bits.
    package var wholeMilliseconds: Int64 {
        let (seconds, attoseconds) = components
        guard seconds >= 0, attoseconds >= 0 else { return 0 }
        let (product, isOver) = seconds.multipliedReportingOverflow(by: 1000)
        let (sum, isAbove) = product.addingReportingOverflow(attoseconds / 1_000_000_000_000_000)
        return isOver || isAbove ? .max : sum
    }
}
