// SPDX-License-Identifier: Apache-2.0

package import TerminalIO
import YKInteraction
package import YKKeys
import YKWire

/// The effects of a run other than exchanges with the key: it asks questions, writes files and stores, and contacts
/// servers. With `--plan` it does none of this, which is decided here.
extension Run {
    /// Performs a change outside the key, or prepares what only such a change needs; a plan omits it.
    ///
    /// - Returns: The result, or `nil` in a plan.
    @discardableResult
    package func perform<Value>(_ change: () throws -> Value?) rethrows -> Value? {
        plan == nil ? try change() : nil
    }

    /// Performs a change outside the key that takes a while; a plan omits it.
    ///
    /// - Returns: The result, or `nil` in a plan.
    @discardableResult
    package func perform<Value>(_ change: () async throws -> Value?) async rethrows -> Value? {
        plan == nil ? try await change() : nil
    }

    /// Takes a step that follows a change of the key; the error of a step that fails says what is changed.
    ///
    /// - Parameters:
    ///   - changed: What is changed, in words.
    ///   - hint: What to do about it; the failure's own hint by default.
    package nonisolated(nonsending) func afterChange<Value>(
        _ changed: String, hint: String? = nil, _ step: nonisolated(nonsending) () async throws -> Value
    ) async throws -> Value {
        do { return try await step() } catch let end as PlanEnd { throw end } catch {
            let failure = Explanation(error)
            throw failure.unfinished(changed, hint: hint ?? failure.hint)
        }
    }

    /// Performs what may take more than a second, and shows on a terminal that it is running.
    package func showing<Value>(_ words: String, _ body: () throws -> Value) rethrows -> Value {
        let progress = Progress(terminal, words, isSaid: false)
        defer { progress.end() }
        return try body()
    }

    /// Performs what may take more than a second, and shows on a terminal that it is running.
    package nonisolated(nonsending) func showing<Value>(
        _ words: String, _ body: nonisolated(nonsending) () async throws -> Value
    ) async rethrows -> Value {
        let progress = Progress(terminal, words, isSaid: false)
        defer { progress.end() }
        return try await body()
    }

    /// Ends a plan: what follows has no exchange with the key. Does nothing in a run that carries out the verb.
    ///
    /// - Parameters:
    ///   - step: What follows, in words; `nil` only if the plan has it already.
    ///   - details: More about it.
    /// - Throws: `PlanEnd`.
    package func endPlan(_ step: String?, _ details: [String] = []) throws {
        guard let plan else { return }
        if let step { plan.add(step, details) }
        throw PlanEnd()
    }

    /// Ends a plan at a step whose result decides what follows.
    ///
    /// - Throws: `PlanEnd`.
    package func stopPlan(_ step: String, _ details: [String] = []) throws {
        plan?.stop()
        try endPlan(step, details)
    }

    /// Says what the verb would do next; nothing unless this is a plan.
    package func describe(_ step: String, _ details: [String] = []) { plan?.add(step, details) }

    /// Says what the verb would do, and warns; nothing unless this is a plan.
    package func describe(warnings: [Warning], _ lines: [String]) {
        guard plan != nil else { return }
        warnings.forEach { terminal.warn($0) }
        terminal.say(lines.joined(separator: "\n"))
    }

    /// Takes the steps that a plan shows in place of those that follow; nothing unless this is a plan.
    package func rehearse(_ steps: () async throws -> Void) async throws { if plan != nil { try await steps() } }

    /// Prepares what a plan shows in place of what follows; nothing unless this is a plan.
    package func rehearse(_ step: () -> Void) { if plan != nil { step() } }

    /// What a plan uses in place of credentials, which it neither needs nor asks for.
    var standIns: [any CredentialSource] { plan == nil ? [] : [PlannedCredentials()] }

    /// Refuses a plan of what cannot be planned.
    package func refusePlan(_ why: String) throws { if plan != nil { throw Explanation.usage(why) } }

    /// Whether the stores of this computer are written; a plan leaves them as they are.
    package var writesStores: Bool { plan == nil }

    /// Runs an exchange that may wait for a touch, for a purpose. With `--plan` nothing waits.
    ///
    /// - Throws: `TouchMissed` if the prompt was shown and the key did not answer in time; otherwise the error
    ///   of the body.
    package func touching<Value>(_ purpose: String, _ body: () async throws -> Value) async throws -> Value {
        guard plan == nil else { return try await body() }
        terminal.purpose(purpose)
        return try await TouchPrompt.during(terminal, body)
    }

    /// Whether a question about an entry can be asked, or would be, in a plan.
    package func canAskAboutEntries(isForced: Bool) -> Bool {
        !isForced && (plan != nil || !options.json && person.presence.isHere)
    }

    /// Asks for yes or no before an irreversible change.
    ///
    /// - Parameter force: Whether the question is already answered, by `--force`.
    package func confirm(_ question: @autoclosure () -> String, unless force: Bool) throws {
        if !force { try terminal.ask(Asked(question(), .agree(()))) }
    }

    /// Asks the user to type a word before the most serious losses.
    package func confirm(typing word: String, _ warning: @autoclosure () -> String, unless force: Bool) throws {
        if !force { try terminal.ask(Asked(warning(), .type(word: word, ()))) }
    }
}

/// The end of a plan before the end of the verb.
struct PlanEnd: Error {}

extension ExchangePlan {
    /// Adds a step that is not sent, in words.
    package func add(_ step: String, _ details: [String] = []) {
        add(Step(command: [], summary: step, details: details, isSent: false))
    }
}

/// What a verb would do, which `--plan` shows instead of doing it.
struct PlanReport: Report {
    let steps: [ExchangePlan.Step]
    let isStopped: Bool

    static let members: [Member<PlanReport>] = [
        Member("plan") { $0.steps },
        Member("complete", "false if what follows depends on the key's answer") { !$0.isStopped },
    ]

    fileprivate var lines: [String] {
        let lines = steps.flatMap { step in
            ["\(step.isSent ? "sent    " : "not sent") \(step.summary.printable)"]
                + (step.isSent ? [] : step.details.map { "         " + $0.printable })
        }
        return lines + (isStopped ? ["what follows depends on the key's answer"] : [])
    }
}

extension ExchangePlan.Step: Report {
    package static let members: [Member<ExchangePlan.Step>] = [
        Member("command", "in hexadecimal") { Hex.encode($0.command) },
        Member("words") { $0.summary.printable },
        Member("details") { $0.details.map(\.printable) },
        Member("sent", "whether it was sent, since it changes nothing") { $0.isSent },
    ]
}

extension ExchangePlan {
    /// The plan as an answer.
    package var answer: Answer {
        let report = PlanReport(steps: steps, isStopped: isStopped)
        return Outcome(report, report.lines).answer(as: Shape())
    }
}
