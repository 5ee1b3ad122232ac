// SPDX-License-Identifier: Apache-2.0

package import YKWire

/// The members of a verb's answer, and how they are made of what the verb returns. A verb with few members declares
/// them itself and returns their values; one with more returns a ``Report``.
package struct Shape<Value>: Sendable {
    private let forms: @Sendable () -> [MemberForm]
    private let make: @Sendable (Value) -> JSONValue.Object

    /// The members without their values.
    package var members: [MemberForm] { forms() }

    /// The members of the value of the only item, or of a tuple with the value of each item.
    package init<each Part>(_ item: repeat Item<each Part>) where Value == (repeat each Part) {
        self.init(true: [], repeat [each item])
    }

    /// The members of the parts of a tuple, each of which has any number of them.
    package init<each Part>(_ items: repeat [Item<each Part>]) where Value == (repeat each Part) {
        self.init(true: [], repeat each items)
    }

    /// The members of a tuple whose parts have names, since two are of one type or some make several members.
    package init(members: [Member<Value>]) where Value: Sendable {
        self.init(true: [], members)
    }

    /// Members that are each made of the whole value, such as a tuple with labels.
    package init(_ members: Member<Value>...) where Value: Sendable { self.init(true: [], members) }

    /// Members that are always true and say what was done, followed by the items.
    package init<each Part>(done names: String..., and item: repeat Item<each Part>)
    where Value == (repeat each Part) {
        self.init(true: names, repeat [each item])
    }

    private init<each Part>(true names: [String], _ items: repeat [Item<each Part>])
    where Value == (repeat each Part) {
        forms = {
            var forms = names.map { MemberForm($0, "", .flag) }
            repeat forms += Self.forms(of: each items)
            return forms
        }
        make = { value in
            var object = JSONValue.Object()
            for name in names { object[name] = true }
            repeat Self.add(each items, of: each value, to: &object)
            return object
        }
    }

    private static func forms<Part>(of items: [Item<Part>]) -> [MemberForm] { items.map { $0.form } }

    private static func add<Part>(_ items: [Item<Part>], of part: Part, to object: inout JSONValue.Object) {
        for item in items { object[item.form.name] = item.value(part) }
    }

    /// The members after those of a report that is always the same.
    package func following<Head: Report>(_ head: Head) -> Shape {
        Shape(forms: { Head.memberForms + forms() }) { value in
            var object = head.json.object ?? JSONValue.Object()
            for member in make(value).members { object[member.key] = member.value }
            return object
        }
    }

    private init(
        forms: @escaping @Sendable () -> [MemberForm], make: @escaping @Sendable (Value) -> JSONValue.Object
    ) {
        (self.forms, self.make) = (forms, make)
    }

    package func object(of value: Value) -> JSONValue.Object { make(value) }
}

extension Shape where Value == Void {
    /// No members.
    package static var none: Shape { Shape(true: []) }
}

extension Shape where Value: Report {
    /// The members of a report.
    package init() {
        forms = { Value.memberForms }
        make = { $0.json.object ?? JSONValue.Object() }
    }
}

/// A member of an answer that has few: its value is the source, or made of it.
package typealias Item<Part: Sendable> = Member<Part>

extension Member where Source: Reportable {
    /// A member whose value is the source.
    package init(_ name: String, _ about: String = "") { self.init(name, about) { $0 } }
}
