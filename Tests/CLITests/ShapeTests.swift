// SPDX-License-Identifier: Apache-2.0

import TerminalIO
import Testing
import YKTestSupport
import YKWire

/// The members of small answers, without a value and of one.
@Suite struct ShapeTests {
    private struct Head: Report {
        static let members: [Member<Head>] = [Member("status", "of the call") { _ in "ok" }]
    }

    private func text<Value>(_ shape: Shape<Value>, of value: Value) -> String {
        JSONValue.object(Outcome(value).answer(as: shape).members).text
    }

    @Test func anItemMakesAMemberOfItsPart() {
        let shape = Shape(
            Item<String>("label"), Item<[UInt8]?>("digits", "in hexadecimal") { $0.map { Hex.encode($0) } })
        expect(shape.members.map(\.name), is: ["label", "digits"])
        expect(shape.members.map(\.about), is: ["", "in hexadecimal"])
        expect(text(shape, of: ("a", [1, 0xFF])), is: #"{"label":"a","digits":"01ff"}"#)
        expect(text(shape, of: ("a", nil)), is: #"{"label":"a","digits":null}"#)
        expect(text(Shape(Item<Int>("size")), of: 3), is: #"{"size":3}"#)
    }

    @Test func aPartMakesSeveralMembers() {
        let shape = Shape([Item<String>("name"), Item("length") { $0.count }], [Item<Bool>("known")])
        expect(text(shape, of: ("abc", true)), is: #"{"name":"abc","length":3,"known":true}"#)
    }

    @Test func membersStandInTheOrderOfTheirNames() {
        typealias Move = (from: String, to: String)
        let shape = Shape<Move>(Member("to") { $0.to }, Member("from") { $0.from })
        expect(text(shape, of: (from: "9a", to: "82")), is: #"{"to":"82","from":"9a"}"#)
    }

    @Test func whatIsDoneIsTrue() {
        let shape = Shape(done: "reset", "hasPin", and: Item<Int>("seconds"))
        expect(text(shape, of: 5), is: #"{"reset":true,"hasPin":true,"seconds":5}"#)
        expect(text(Shape(done: "reset").following(Head()), of: ()), is: #"{"status":"ok","reset":true}"#)
        expect(Shape(done: "reset").following(Head()).members.map(\.name), is: ["status", "reset"])
        expect(text(Shape.none, of: ()), is: "{}")
    }
}
