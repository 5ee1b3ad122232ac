// SPDX-License-Identifier: Apache-2.0

/// The result of a verb: its report, and what else is printed.
package struct Outcome<Reported: Report> {
    /// The answer with the report's members, which may be completed with lines, bytes, warnings and a failure.
    package var answer: Answer

    /// A report, and the lines that people see instead.
    package init(_ report: Reported, _ lines: [String] = []) { answer = Answer(report, lines) }

    package init(_ report: Reported, _ line: String) { self.init(report, [line]) }

    /// The outcome of a verb that printed its own output, or of a plan.
    package static var printed: Outcome { Outcome(Answer()) }

    private init(_ answer: Answer) { self.answer = answer }
}
