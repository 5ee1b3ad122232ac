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
