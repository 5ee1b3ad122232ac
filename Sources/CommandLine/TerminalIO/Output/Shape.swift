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
        self.init(true: [], repeat each item)
    }

    /// Members that are always true and say what was done, followed by the items.
    package init<each Part>(done names: String..., and item: repeat Item<each Part>)
    where Value == (repeat each Part) {
        self.init(true: names, repeat each item)
    }

    private init<each Part>(true names: [String], _ item: repeat Item<each Part>) where Value == (repeat each Part) {
        forms = {
            var forms = names.map { MemberForm($0, "", .flag) }
            repeat forms.append((each item).form)
            return forms
        }
        make = { value in
            var object = JSONValue.Object()
            for name in names { object[name] = true }
            repeat object[(each item).form.name] = (each item).value(each value)
            return object
        }
    }

    /// Members that are each made of the whole value, such as a tuple with labels.
    package init(_ members: Member<Value>...) where Value: Sendable {
        forms = { members.map { $0.form } }
        make = { value in
            var object = JSONValue.Object()
            for member in members { object[member.form.name] = member.value(value) }
            return object
        }
    }

    package func object(of value: Value) -> JSONValue.Object { make(value) }
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
