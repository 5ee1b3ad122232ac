// SPDX-License-Identifier: Apache-2.0

package import YKWire

/// The answer of a verb, or a part of it: the members of one JSON object, each declared once. The JSON itself, its
/// schema and its documentation are generated from the declarations.
package protocol Report: Reportable {
    /// The members in their order.
    static var members: [Member<Self>] { get }
}

extension Report {
    package static var form: JSONForm { .object(memberForms) }

    /// The members without the code that reads them.
    // A key path of a generic type is made at run time, for which all conformances of the program are searched.
    package static var memberForms: [MemberForm] { members.map { $0.form } }

    package var json: JSONValue {
        var object = JSONValue.Object()
        for member in Self.members { object[member.form.name] = member.value(self) }
        return .object(object)
    }

    /// The rows of the members that people read.
    package var rows: [[String]] {
        // The generic 'flatMap' would search the conformances of the whole program (tools/bench/start).
        var rows: [[String]] = []
        for member in Self.members { rows += member.rows(self) }
        return rows
    }

    /// The rows of some members, in the order of their names.
    package func rows(_ names: [String]) -> [[String]] {
        // So would 'first(where:)'.
        var rows: [[String]] = []
        for name in names {
            for member in Self.members where member.form.name == name { rows += member.rows(self) }
        }
        return rows
    }

    /// The rows as lines.
    package var details: [String] { Table.details(rows) }
}

/// A member of a report. One with a title, a line or rows is also printed for people, by `rows` and `details` of the
/// report.
package struct Member<Source: Sendable>: Sendable {
    package let form: MemberForm
    /// The value; `nil` if the object omits the member.
    package let value: @Sendable (Source) -> JSONValue?
    /// The rows that people read, their titles first.
    package let rows: @Sendable (Source) -> [[String]]

    init(
        form: MemberForm, rows: @escaping @Sendable (Source) -> [[String]],
        _ value: @escaping @Sendable (Source) -> JSONValue?
    ) { (self.form, self.value, self.rows) = (form, value, rows) }

    /// A member that every object has, with `null` for a missing value.
    ///
    /// - Parameters:
    ///   - about: What the member means, if its name does not say it: a unit, an encoding, a condition.
    ///   - title: The title of its row; without one, it is for programs only.
    ///   - absent: The row's text for a missing or empty value; `nil` for no row.
    package init<Value: Reportable>(
        _ name: String, _ about: String = "", title: String? = nil, absent: String? = nil,
        _ value: @escaping @Sendable (Source) -> Value
    ) {
        self.init(
            form: MemberForm(name, about, Value.form), rows: { Self.row(title, value($0).json.words ?? absent) }
        ) { value($0).json }
    }

    /// A member with a row whose text the value has; `words` returns `nil` for a value that counts as absent.
    package init<Value: Reportable>(
        _ name: String, _ about: String = "", title: String, absent: String? = nil,
        words: @escaping @Sendable (Value) -> String?, _ value: @escaping @Sendable (Source) -> Value
    ) {
        self.init(
            form: MemberForm(name, about, Value.form), rows: { Self.row(title, words(value($0)) ?? absent) }
        ) { value($0).json }
    }

    /// A member with a row whose text the value has, unless it is missing.
    package init<Value: Reportable>(
        _ name: String, _ about: String = "", title: String, absent: String? = nil,
        words: @escaping @Sendable (Value) -> String?, _ value: @escaping @Sendable (Source) -> Value?
    ) {
        self.init(
            form: MemberForm(name, about, Value?.form), rows: { Self.row(title, value($0).flatMap(words) ?? absent) }
        ) { value($0).json }
    }

    /// A member with a row whose text the source has; `nil` for no row.
    package init<Value: Reportable>(
        _ name: String, _ about: String = "", title: String, line: @escaping @Sendable (Source) -> String?,
        _ value: @escaping @Sendable (Source) -> Value
    ) {
        self.init(
            form: MemberForm(name, about, Value.form), rows: { Self.row(title, line($0)) }
        ) { value($0).json }
    }

    /// A member with any number of rows.
    package init<Value: Reportable>(
        _ name: String, _ about: String = "", rows: @escaping @Sendable (Source) -> [[String]],
        _ value: @escaping @Sendable (Source) -> Value
    ) { self.init(form: MemberForm(name, about, Value.form), rows: rows) { value($0).json } }

    /// A member whose value is made elsewhere; one of another form is `null`.
    package init(
        _ name: String, _ about: String = "", form: JSONForm,
        rows: @escaping @Sendable (Source) -> [[String]] = { _ in [] },
        _ value: @escaping @Sendable (Source) -> JSONValue?
    ) {
        self.init(form: MemberForm(name, about, .optional(form)), rows: rows) { source in
            value(source).map { form.accepts($0) ? $0 : .null } ?? .null
        }
    }

    /// A member that is omitted if it has no value.
    package init<Value: Reportable>(
        ifKnown name: String, _ about: String = "", title: String? = nil,
        _ value: @escaping @Sendable (Source) -> Value?
    ) {
        self.init(
            form: MemberForm(name, about, Value.form, isAlwaysPresent: false),
            rows: { Self.row(title, value($0)?.json.words) }
        ) { value($0)?.json }
    }

    private static func row(_ title: String?, _ words: @autoclosure () -> String?) -> [[String]] {
        guard let title, let words = words() else { return [] }
        return [[title, words]]
    }
}

extension JSONValue {
    /// The value as the text of a row; `nil` for `null` and for an empty text or list.
    fileprivate var words: String? {
        switch self {
        case .null: return nil
        case .bool(let flag): return flag ? "yes" : "no"
        case .string(let text): return text.isEmpty ? nil : text.printable
        case .array(let values):
            let words = values.compactMap(\.words)
            return words.isEmpty ? nil : words.listed()
        case .int, .double, .object: return text
        }
    }
}

/// The form of a member, without its value.
package struct MemberForm: Sendable {
    package let name: String
    /// What it means, if the name does not say it.
    package let about: String
    package let form: JSONForm
    /// Whether every object has it.
    package let isAlwaysPresent: Bool

    package init(_ name: String, _ about: String, _ form: JSONForm, isAlwaysPresent: Bool = true) {
        (self.name, self.about, self.form, self.isAlwaysPresent) = (name, about, form, isAlwaysPresent)
    }
}

/// The form of a JSON value.
package indirect enum JSONForm: Sendable {
    case text, integer, number, flag
    /// One of these texts.
    case choice([String])
    /// Any value: data from a server or a file, unchanged.
    case any
    case list(JSONForm)
    case object([MemberForm])
    /// An object with any names, whose values have this form.
    case dictionary(JSONForm)
    /// The value or `null`.
    case optional(JSONForm)
}

/// A value that can be represented in JSON.
package protocol Reportable: Sendable {
    static var form: JSONForm { get }
    var json: JSONValue { get }
}

extension String: Reportable {
    package static var form: JSONForm { .text }
    package var json: JSONValue { .string(self) }
}

/// A value that is one of a few texts.
extension Reportable where Self: RawRepresentable & CaseIterable, RawValue == String {
    package static var form: JSONForm { .choice(allCases.map { $0.rawValue }) }
    package var json: JSONValue { .string(rawValue) }
}

extension Bool: Reportable {
    package static var form: JSONForm { .flag }
    package var json: JSONValue { .bool(self) }
}

extension Double: Reportable {
    package static var form: JSONForm { .number }
    package var json: JSONValue { .double(self) }
}

extension Reportable where Self: BinaryInteger {
    package static var form: JSONForm { .integer }
    package var json: JSONValue { .int(Int64(clamping: self)) }
}

extension Int: Reportable {}
extension Int64: Reportable {}
extension UInt8: Reportable {}
extension UInt16: Reportable {}
extension UInt32: Reportable {}
extension UInt64: Reportable {}

extension Optional: Reportable where Wrapped: Reportable {
    package static var form: JSONForm { .optional(Wrapped.form) }
    package var json: JSONValue { self?.json ?? .null }
}

extension Array: Reportable where Element: Reportable {
    package static var form: JSONForm { .list(Element.form) }
    package var json: JSONValue { .array(map { $0.json }) }
}

extension JSONValue: Reportable {
    package static var form: JSONForm { .any }
    package var json: JSONValue { self }
}

extension Report {
    /// A time as a number, and as text in a second member with the suffix `UTC`.
    package static func time(
        _ name: String, _ about: String = "", _ value: @escaping @Sendable (Self) -> Int64?
    ) -> [Member<Self>] {
        let form = "seconds since 1970"
        return [
            Member(name, about.isEmpty ? form : "\(about); \(form)", value),
            Member(name + "UTC", "the same in RFC 3339") { value($0).map { UTCDate.timestamp($0) } },
        ]
    }

    /// The members of a part of the report, among its own.
    package static func including<Part: Report>(_ part: @escaping @Sendable (Self) -> Part) -> [Member<Self>] {
        Part.members.map { member in
            Member(form: member.form, rows: { member.rows(part($0)) }) { member.value(part($0)) }
        }
    }

    /// The members of an optional part; without the part, the object omits them.
    package static func including<Part: Report>(
        ifKnown part: @escaping @Sendable (Self) -> Part?
    ) -> [Member<Self>] {
        Part.members.map { member in
            let form = MemberForm(member.form.name, member.form.about, member.form.form, isAlwaysPresent: false)
            return Member(form: form, rows: { part($0).map(member.rows) ?? [] }) { part($0).flatMap(member.value) }
        }
    }
}
