// SPDX-License-Identifier: Apache-2.0

package import YKWire

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
    package var warnings: [String] = []
    /// Why the verb failed in part, reported after the answer.
    package var failure: Explanation?

    /// Creates an empty answer.
    package init() {}

    package init(_ lines: [String]) { self.lines = lines }

    /// Creates an answer with the members of a report.
    init(_ report: some Report, _ lines: [String]) {
        self.lines = lines
        makeMembers = { if case .object(let members) = report.json { members } else { JSONValue.Object() } }
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
