// SPDX-License-Identifier: Apache-2.0

import Arguments

/// A command that returns an answer for the program to print.
protocol Verb: ParsableCommand {
    var global: GlobalOptions { get set }
    /// The members of its JSON object besides `ok`, `error` and `warnings`, present on success and on failure.
    static var members: [String] { get }
    /// Does the work.
    func answer(in world: World) async throws -> Answer
}

extension Verb {
    static var unread: (any ParsableCommand)? { Self() }

    func carryOut() async -> Int32 { await Program.run(GivenVerb(self)).rawValue }
}

/// The parsed verb. The class hides its type from the compiler, which would otherwise specialize the code that runs a
/// verb for each of 300, or 3 MB of the program.
final class GivenVerb {
    let verb: any Verb

    init(_ verb: any Verb) { self.verb = verb }
}
