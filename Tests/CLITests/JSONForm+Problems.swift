// SPDX-License-Identifier: Apache-2.0

import YKWire

@testable import TerminalIO
@testable import Verbs

extension JSONForm {
    /// Where a value differs from the form.
    ///
    /// - Parameter path: Where the value stands, for the messages.
    func problems(in value: JSONValue, at path: String = "answer") -> [String] {
        switch (self, value) {
        case (.any, _), (.text, .string), (.integer, .int), (.number, .int), (.number, .double), (.flag, .bool),
            (.optional, .null):
            []
        case (.optional(let form), _): form.problems(in: value, at: path)
        case (.list(let form), .array(let values)):
            values.enumerated().flatMap { form.problems(in: $1, at: "\(path)[\($0)]") }
        case (.object(let members), .object(let object)): Self.problems(in: object, members, at: path)
        default: ["\(path) is \(value.text)"]
        }
    }

    private static func problems(in object: JSONValue.Object, _ members: [MemberForm], at path: String) -> [String] {
        let names = Set(members.map(\.name))
        let surplus = object.members.map(\.key).filter { !names.contains($0) }.map { "\(path).\($0) is not declared" }
        return surplus
            + members.flatMap { member in
                let path = "\(path).\(member.name)"
                guard let value = object[member.name] else {
                    return member.isAlwaysPresent ? ["\(path) is missing"] : []
                }
                return member.form.problems(in: value, at: path)
            }
    }
}
