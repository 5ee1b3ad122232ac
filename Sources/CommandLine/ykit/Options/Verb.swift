// SPDX-License-Identifier: Apache-2.0

import Arguments

/// A command that does something: it answers, and the program prints.
protocol Verb: ParsableCommand {
    var global: GlobalOptions { get set }
    /// The members of its JSON object besides `ok`, `error` and `warnings`, there in success and failure.
    static var members: [String] { get }
    /// Does the work.
    func answer(in world: World) async throws -> Answer
}

extension Verb {
    static var unread: (any ParsableCommand)? { Self() }

    func carryOut() async -> Int32 { await Program.run(GivenVerb(self)).rawValue }
}

/// A verb of the line. The class keeps its type from the compiler, which would else make a copy of the code that runs a
/// verb for each of 300: 3 MB of the program.
final class GivenVerb {
    let verb: any Verb

    init(_ verb: any Verb) { self.verb = verb }
}
