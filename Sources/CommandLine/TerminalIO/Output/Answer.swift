// SPDX-License-Identifier: Apache-2.0

package import YKWire

/// A problem that did not keep a verb from succeeding.
package struct Warning: Hashable, Sendable {
    /// A stable identifier, for programs.
    package let code: String
    /// What is wrong, and what to do.
    package let message: String

    package init(_ code: String, _ message: String) { (self.code, self.message) = (code, message) }

    /// Creates the warning of a failure that the verb could do without.
    ///
    /// - Parameter words: The sentence for the failure's message.
    package init(_ failure: Explanation, _ words: (String) -> String = { $0 }) {
        self.init(failure.code, words(failure.message))
    }
}

extension Warning: Report {
    package static let members: [Member<Warning>] = [
        Member("code", "a stable identifier") { $0.code }, Member("message", "for people") { $0.message },
    ]
}

/// The answer of a verb: members of one JSON object for programs, lines for people.
package struct Answer {
    /// The members of the object after `ok`. They are made when they are read, not for people, who read the lines: an
    /// eighth of a short run.
    package var members: JSONValue.Object {
        get { makeMembers() }
        set { makeMembers = { newValue } }
    }
    private var makeMembers: () -> JSONValue.Object = { JSONValue.Object() }
    /// The lines.
    package var lines: [String] = []
    /// Bytes that are printed unchanged instead of the lines.
    package var raw: [UInt8]?
    /// Whether the key produces the answer only this once, so that it must not be lost with standard output.
    package var isMadeOnce = false
    /// Problems that did not keep the verb from succeeding.
    package var warnings: [Warning] = []
    /// Why the verb failed in part, reported after the answer.
    package var failure: Explanation?

    /// Creates an empty answer.
    package init() {}

    package init(_ lines: [String]) { self.lines = lines }

    /// Returns the answer with members that are made when they are read.
    func with(_ members: @escaping () -> JSONValue.Object) -> Answer {
        var answer = self
        answer.makeMembers = members
        return answer
    }

    /// Withholds bytes from a terminal that would interpret them: they may come from anyone and contain control
    /// sequences.
    package mutating func withholdBytes(from terminal: Terminal) {
        guard let bytes = raw, terminal.isOutputTerminal, !String.isShowable(bytes) else { return }
        raw = nil
        lines = []
        failure = failure ?? FileOutput.unshown
    }
}

/// The result of a verb: what it reports, and what else is printed.
package struct Outcome<Reported> {
    /// The lines for people, which may be completed with bytes, warnings and a failure.
    package var answer: Answer
    private let reported: Reported?

    /// What is reported, and the lines that people see instead.
    package init(_ reported: Reported, _ lines: [String] = []) {
        (self.answer, self.reported) = (Answer(lines), reported)
    }

    package init(_ reported: Reported, _ line: String) { self.init(reported, [line]) }

    /// The outcome of a verb that printed its own output, or of a plan.
    package static var printed: Outcome { Outcome() }

    private init() { (answer, reported) = (Answer(), nil) }

    /// The answer with the members of what is reported, whose declarations people do not need either.
    package func answer(as shape: @escaping @autoclosure () -> Shape<Reported>) -> Answer {
        guard let reported else { return answer }
        return answer.with { shape().object(of: reported) }
    }
}

extension Outcome where Reported == Void {
    /// The outcome of a verb that has nothing to report but that it is done.
    package init(done line: String) { self.init((), line) }
}

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
