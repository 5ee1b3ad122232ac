// SPDX-License-Identifier: Apache-2.0

package import TerminalIO
package import YKWire

extension Verb {
    /// The JSON Schema of what the verb prints with --json: one answer, or a line for each event too.
    package static var schema: JSONValue {
        let plan = uses.contains(.plan) && !uses.contains(.ownPlan) ? PlanReport.members.map(\.form) : []
        let answer = JSONForm.answer(of: members, orElse: plan)
        let schema: JSONValue = events.isEmpty ? answer : ["anyOf": [answer, JSONForm.answer(of: events)]]
        var object = JSONValue.Object()
        object["$schema"] = "https://json-schema.org/draft/2020-12/schema"
        for member in schema.object?.members ?? [] { object[member.key] = member.value }
        return .object(object)
    }
}

extension Report {
    /// The report as the answer of a successful verb, for a verb that prints several answers.
    package var answer: JSONValue {
        var object = Program.envelope(error: nil, warnings: [])
        if case .object(let members) = json { for member in members.members { object[member.key] = member.value } }
        return .object(object)
    }
}
