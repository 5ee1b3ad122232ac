// SPDX-License-Identifier: Apache-2.0

package import TerminalIO
package import YKWire

extension Report {
    /// The report as the answer of a successful verb, for a verb that prints several answers.
    package var answer: JSONValue {
        var object = Program.envelope(error: nil, warnings: [])
        if case .object(let members) = json { for member in members.members { object[member.key] = member.value } }
        return .object(object)
    }
}
