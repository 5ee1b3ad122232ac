// SPDX-License-Identifier: Apache-2.0

/// A JSON value (RFC 8259) whose objects keep the order of their members.
public enum JSONValue: Hashable, Sendable {
    /// `null`
    case null
    /// `true` or `false`
    case bool(Bool)
    /// A number without fraction or exponent that fits 64 bits.
    case int(Int64)
    /// Any other number.
    case double(Double)
    /// A string.
    case string(String)
    /// An array.
    case array([JSONValue])
    /// An object with its members in order.
    case object(Object)

    /// The members of an object in order, with unique keys.
    public struct Object: Hashable, Sendable {
        /// One key and its value.
        public struct Member: Hashable, Sendable {
            /// The key.
            public let key: String
            /// The value.
            public var value: JSONValue
        }

        /// The members in order.
        public private(set) var members: [Member] = []

        /// Creates an empty object.
        public init() {}

        init(members: [Member]) { self.members = members }

        /// The value of a key; setting appends a new key at the end, setting `nil` removes it.
        public subscript(key: String) -> JSONValue? {
            get { members.first { $0.key == key }?.value }
            set {
                let index = members.firstIndex { $0.key == key }
                switch (index, newValue) {
                case (let index?, let value?): members[index].value = value
                case (let index?, nil): members.remove(at: index)
                case (nil, let value?): members.append(Member(key: key, value: value))
                case (nil, nil): break
                }
            }
        }
    }

    /// The value of a key, when this is an object that contains it.
    public subscript(key: String) -> JSONValue? {
        if case .object(let object) = self { object[key] } else { nil }
    }

    /// The text, when this is a string.
    public var string: String? { if case .string(let text) = self { text } else { nil } }
    /// The number, when this is an integer.
    public var int: Int64? { if case .int(let number) = self { number } else { nil } }
    /// The value, when this is a boolean.
    public var bool: Bool? { if case .bool(let value) = self { value } else { nil } }
    /// The elements, when this is an array.
    public var array: [JSONValue]? { if case .array(let elements) = self { elements } else { nil } }
    /// The members, when this is an object.
    public var object: Object? { if case .object(let object) = self { object } else { nil } }
    /// The number, when this is any number.
    public var number: Double? {
        switch self {
        case .int(let number): Double(number)
        case .double(let number): number
        default: nil
        }
    }
}

extension JSONValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral,
    ExpressibleByFloatLiteral, ExpressibleByNilLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    /// A string.
    public init(stringLiteral value: String) { self = .string(value) }
    /// An integer.
    public init(integerLiteral value: Int64) { self = .int(value) }
    /// `true` or `false`.
    public init(booleanLiteral value: Bool) { self = .bool(value) }
    /// A number.
    public init(floatLiteral value: Double) { self = .double(value) }
    /// `null`.
    public init(nilLiteral: ()) { self = .null }
    /// An array.
    public init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
    /// An object with its members in this order.
    public init(dictionaryLiteral elements: (String, JSONValue)...) {
        var object = Object()
        for (key, value) in elements { object[key] = value }
        self = .object(object)
    }
}
