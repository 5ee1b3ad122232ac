// SPDX-License-Identifier: Apache-2.0

import Arguments

/// Asks before something is done that cannot be undone, unless told not to.
struct Confirmation: ParsableArguments {
    @Flag(name: .shortAndLong, help: "Do not ask for confirmation.")
    var force = false

    /// Asks for yes or no; a plan changes nothing and asks nothing.
    func ask(_ question: @autoclosure () -> String, in world: World) throws {
        if !force, world.plan == nil { try Prompt.confirm(question()) }
    }

    /// Asks for a word to be typed, for what is worst to lose.
    func ask(typing word: String, _ warning: @autoclosure () -> String, in world: World) throws {
        if !force, world.plan == nil { try Prompt.confirm(typing: word, warning()) }
    }
}
