// SPDX-License-Identifier: Apache-2.0

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

    /// The answer with the members of what is reported.
    package func answer(as shape: Shape<Reported>) -> Answer {
        guard let reported else { return answer }
        return answer.with { shape.object(of: reported) }
    }
}

extension Outcome where Reported == Void {
    /// The outcome of a verb that has nothing to report but that it is done.
    package init(done line: String) { self.init((), line) }
}
