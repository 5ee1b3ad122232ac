// SPDX-License-Identifier: Apache-2.0

package import Arguments
package import TerminalIO
package import YKProtocols
package import YKWire

/// A command that returns what it reports, for the program to print. Its properties are its own options and arguments;
/// `VerbLine` adds those that every verb has.
package protocol Verb: ParsableArguments, Command {
    associatedtype Reported
    /// The members of the answer, made of what the verb reports; those of a ``Report`` are its own.
    static var answer: Shape<Reported> { get }
    /// The global options that have an effect on the verb.
    static var uses: GlobalUse { get }
    /// Throws a `UsageError` for global options that the verb does not support.
    func check(with global: GlobalOptions) throws
    /// The PIN that `YKIT_PIN` holds, for a verb that may ask for those of several applications; if `nil`, the one that is
    /// needed first.
    var ownPIN: CredentialKind? { get }
    /// Whether an unusable configuration file ends the verb.
    static var needsConfiguration: Bool { get }
    /// Whether standard output belongs to a protocol, so that the configuration file does not affect its format.
    static var hasOwnOutput: Bool { get }
    /// The members of each line that the verb prints while it runs; empty for a verb that prints one answer.
    static var events: [MemberForm] { get }
    /// Whether several secrets may be read from standard input, one line each, in the order that the help gives.
    static var readsLines: Bool { get }
    /// Runs the verb.
    func run(in run: Run) async throws -> Outcome<Reported>
}

extension Verb {
    package static var uses: GlobalUse { .key }

    /// The members of the JSON object besides `ok`, `error` and `warnings`, present on success and on failure.
    package static var members: [MemberForm] { answer.members }

    package static var events: [MemberForm] { [] }

    package static var needsConfiguration: Bool { true }

    package static var readsLines: Bool { false }

    package static var hasOwnOutput: Bool { false }

    package static var command: any ParsableCommand.Type { VerbLine<Self>.self }

    package var ownPIN: CredentialKind? { nil }

    package func check(with global: GlobalOptions) throws {}

    func answer(in run: Run) async throws -> Answer { try await self.run(in: run).answer(as: Self.answer) }
}

extension Verb where Reported: Report {
    package static var answer: Shape<Reported> { Shape() }
}

/// The command of a verb: the verb's options, followed by the global ones.
package struct VerbLine<Given: Verb>: VerbCommand {
    package init() {}

    package static var about: About { Given.about }
    package static var isVerb: Bool { true }
    package static var verb: any Verb.Type { Given.self }

    @OptionGroup package var verb: Given
    @OptionGroup package var global: GlobalOptions

    package func check() throws {
        try Given.uses.check($global)
        try verb.check(with: global)
    }

    package func performer(_ declarations: Declarations) -> AnyObject? { GivenVerb(verb, declarations, global) }
}

/// A command that runs a verb.
package protocol VerbCommand: ParsableCommand {
    static var verb: any Verb.Type { get }
}

/// The parsed verb. The class hides its type from the compiler, which would otherwise specialize the code that runs a
/// verb for each of the 300 verbs, and make the program 3 MB larger.
package final class GivenVerb {
    package let verb: any Verb
    package let declarations: Declarations
    package let global: GlobalOptions

    package init(_ verb: any Verb, _ declarations: Declarations, _ global: GlobalOptions) {
        (self.verb, self.declarations, self.global) = (verb, declarations, global)
    }
}

extension ParsedVerb {
    /// The verb, as the program carries it out.
    package var given: GivenVerb? { verb.performer(declarations) as? GivenVerb }
}

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
