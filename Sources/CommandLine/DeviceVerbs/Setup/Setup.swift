// SPDX-License-Identifier: Apache-2.0

import Arguments
import TerminalIO
import Verbs
import YKInteraction
import YKKeys
import YKWire

/// Guides a person through the first steps with a new key.
struct Setup: Verb {
    static let about = About(
        "Set up a new key step by step.",
        discussion: """
            PIN, PUK and management key, the browser, an SSH key, the guard and the second key: each step is explained, and shown as \
            the command that does it. Enter alone skips a step; steps that the key reports as done are not offered. \
            With --plan the steps are only printed.
            """,
        examples: [
            Example("ykit setup --plan", "Print the steps and their state."),
            Example("ykit --device 12345678 setup", "Set up this one of several keys."),
        ])

    private static let withoutPerson = "'ykit setup --plan' prints the steps"

    static let uses: GlobalUse = [.device, .virtual, .plan, .ownPlan]

    func check(with global: GlobalOptions) throws {
        if global.json, !global.plan { throw UsageError("setup asks questions; --json requires --plan") }
    }

    func run(in run: Run) async throws -> Outcome<SetupReport> {
        let isPlan = run.options.plan
        if !isPlan { try run.terminal.requirePerson(orElse: Self.withoutPerson) }
        let state = try await state(in: run, isRequired: !isPlan)
        var report = SetupReport(state, run.keyWords(serial: state.key?.serial))
        if isPlan { return Outcome(report, report.lines(run.terminal.columns)) }
        try run.terminal.show([report.heading], orElse: Self.withoutPerson)
        for index in report.steps.indices {
            do {
                report.steps[index].result = try await offer(report.steps[index], report.place(index), run)
            } catch {
                guard run.isEnded(by: error) else { throw error }
                report.isInterrupted = true
            }
            if run.isInterrupted { report.isInterrupted = true }
            if report.isInterrupted { break }
        }
        var outcome = Outcome(report, report.summary)
        outcome.answer.failure = report.isInterrupted ? .interrupted : report.failure
        return outcome
    }

    /// Reads the state of the key. A plan can do without a key, and without the service that finds one.
    private func state(in run: Run, isRequired: Bool) async throws -> SetupState {
        do { return try await SetupState.read(in: run) } catch {
            guard !isRequired, KeyError.isAbsence(ofKey: error) else { throw error }
            return SetupState(of: run)
        }
    }

    /// Explains a step and runs its command if the person agrees.
    private func offer(
        _ step: SetupReport.Step, _ place: String, _ run: Run
    ) async throws -> SetupReport.Result? {
        guard step.isOffered else { return nil }
        let title = "\n\(Style.bold.around("\(place)  \(step.step.title)"))"
        try run.terminal.show(
            [title] + step.explanation(run.person.presence.columns), orElse: Self.withoutPerson)
        guard !step.step.isOnlyShown else { return nil }
        guard try run.isAgreed("run it?", orElse: Self.withoutPerson) else { return .skipped }
        let status = await Program.run(step.words, on: run.keys, run.stage)
        // What was typed for a question that is over is not the answer to the next one, and must not be shown.
        run.person.discardTyped()
        return status == .done ? .done : .failed
    }
}

/// The steps of setting up a key.
struct SetupReport: Report {
    /// The result of an offered step.
    enum Result: String, CaseIterable, Reportable {
        case done, skipped, failed
    }

    /// A step with its command.
    struct Step: Report {
        let step: SetupStep
        let state: SetupStep.State
        /// The command line after `ykit`.
        let words: [String]
        /// The commands of the system that are typed instead.
        var systemCommand: String?
        var result: Result?

        /// The command as it is typed.
        var line: String { systemCommand ?? (["ykit"] + words.map(\.shellQuoted)).joined(separator: " ") }

        /// Why the step is worth doing, in lines of at most this width, and the command.
        func explanation(_ columns: Int) -> [String] {
            step.reason.filled(to: max(30, columns - 3)).map { "  " + $0 } + [Style.bold.around("    " + line)]
        }

        var isOffered: Bool { state == .open || state == .unknown }

        static let members: [Member<Step>] = [
            Member("step") { $0.step },
            Member("title") { $0.step.title },
            Member("reason") { $0.step.reason },
            Member("state", "unknown if the key does not report it") { $0.state },
            Member("command", "the command line that does it") { $0.line },
            Member("result", "null if the step was not offered") { $0.result },
        ]
    }

    let key: KeyDetails?
    var steps: [Step]
    /// Whether ^C ended it before the last step.
    var isInterrupted = false

    static let members: [Member<SetupReport>] = [
        Member("name", "null without a key") { $0.key?.name },
        Member("serial") { $0.key?.serial },
        Member("firmware") { $0.key?.version },
        Member("steps") { $0.steps },
    ]

    init(_ state: SetupState, _ keyWords: [String]) {
        key = state.key
        steps = SetupStep.allCases.map { step in
            let words = step.command(state)
            return Step(
                step: step, state: step.state(state), words: step.usesKey ? keyWords + words : words,
                systemCommand: step.systemCommand(state))
        }
    }

    var heading: String {
        guard let key else { return "no key is attached: these are the steps for any key" }
        return
            ([key.name] + [key.serial.map { "serial \($0)" }, key.version.map { "firmware \($0)" }].compactMap(\.self))
            .joined(separator: ", ").printable
    }

    /// The number of a step among those that the key supports, such as `2/7`.
    func place(_ index: Int) -> String {
        let supported = steps.indices.filter { steps[$0].state != .unsupported }
        return "\((supported.firstIndex(of: index) ?? 0) + 1)/\(supported.count)"
    }

    /// The steps with their commands, for a plan.
    func lines(_ columns: Int) -> [String] {
        [heading]
            + steps.indices.filter { steps[$0].state != .unsupported }.flatMap { index -> [String] in
                let step = steps[index]
                let title = "\(place(index))  \(step.step.title)"
                guard step.isOffered else { return ["", Style.bold.around(title) + ": done"] }
                return ["", Style.bold.around(title)] + step.explanation(columns)
            }
    }

    /// What was done, in one line.
    var summary: String {
        let words = [Result.done, .skipped, .failed].compactMap { (result: Result) -> String? in
            let count = steps.count { $0.result == result }
            return count > 0 ? "\(count) \(result.rawValue)" : nil
        }
        if words.isEmpty { return isInterrupted ? "no step is done" : "nothing is left to do" }
        return "steps: " + words.listed()
    }

    /// The failure of a setup in which a step failed.
    var failure: Explanation? {
        let failed = steps.filter { $0.result == .failed }.map(\.step.title)
        guard !failed.isEmpty else { return nil }
        return Explanation(
            "setup-incomplete", .failed, "not done: \(failed.listed())",
            hint: "'ykit setup' offers the steps that are left")
    }
}
