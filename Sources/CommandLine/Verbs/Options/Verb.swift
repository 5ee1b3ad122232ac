// SPDX-License-Identifier: Apache-2.0

import Arguments

/// A command that returns an answer for the program to print. Its properties are the options and arguments of its own;
/// `Run` adds those that every verb has.
protocol Verb: ParsableArguments, Command {
    /// The global options that have an effect on the verb.
    static var uses: GlobalUse { get }
    /// Throws a `UsageError` for global options that the verb cannot follow.
    func check(with global: GlobalOptions) throws
    /// The application whose PIN `YKIT_PIN` holds, for a verb that may ask for the PINs of several; `nil`: the one that
    /// is asked for first.
    var pinApplication: PINApplication? { get }
    /// Does the work.
    func answer(in world: World) async throws -> Answer
}

extension Verb {
    static var uses: GlobalUse { .key }

    static var command: any ParsableCommand.Type { Run<Self>.self }

    var pinApplication: PINApplication? { nil }

    func check(with global: GlobalOptions) throws {}
}

/// The command of a verb: the verb's options, followed by the global ones.
struct Run<Given: Verb>: VerbCommand {
    static var about: About { Given.about }
    static var isVerb: Bool { true }
    static var verb: any Verb.Type { Given.self }

    @OptionGroup var verb: Given
    @OptionGroup var global: GlobalOptions

    func check() throws {
        try Given.uses.check(global)
        try verb.check(with: global)
    }

    func carryOut(_ declarations: Declarations) async -> Int32 {
        await Program.run(GivenVerb(verb, declarations, global)).rawValue
    }
}

/// A command that runs a verb.
protocol VerbCommand: ParsableCommand {
    static var verb: any Verb.Type { get }
}

/// The parsed verb. The class hides its type from the compiler, which would otherwise specialize the code that runs a
/// verb for each of 300, or 3 MB of the program.
final class GivenVerb {
    let verb: any Verb
    let declarations: Declarations
    let global: GlobalOptions

    init(_ verb: any Verb, _ declarations: Declarations, _ global: GlobalOptions) {
        (self.verb, self.declarations, self.global) = (verb, declarations, global)
    }
}
