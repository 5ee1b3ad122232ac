// SPDX-License-Identifier: Apache-2.0

import Arguments
import TerminalIO
import Verbs

/// Where and how long the user is asked before the use of a key or card.
struct QuestionOptions: ParsableArguments {
    /// The time for an answer, in seconds, unless the line has another.
    static let usualWait = 30

    @Option("--ask <where>", help: "Where the use of the key or card is confirmed.")
    var ask: ConfirmChoice = .auto

    @Option("--wait <seconds>", help: "How long a question waits for its answer (default: 30).")
    var wait: Int?

    /// The time for an answer.
    var patience: Duration { .seconds(wait ?? Self.usualWait) }

    /// Checks the values.
    ///
    /// - Parameters:
    ///   - limit: The longest time for an answer, in seconds.
    ///   - unasked: What is wrong with asking nobody; `nil` if nothing is.
    func check(limit: Int, unasked: String? = nil) throws {
        if let wait, !(1...limit).contains(wait) { throw UsageError("--wait must be 1 to \(limit) seconds") }
        if ask == .none, let unasked { throw UsageError("--ask none \(unasked)") }
    }
}

/// The user whose programs use a device that ykit creates.
struct OwnerOptions: ParsableArguments {
    @Option("--owner <name>", help: "The user who may use the node (default: the user who ran sudo).")
    var owner: String?

    /// The owner; `nil` for the users that udev's rules for security keys name.
    func user(_ run: Run) throws -> String? {
        if let owner { return owner }
        guard User.name == "root", let name = run.variable("SUDO_USER") else { return nil }
        guard BridgeNode.isName(name) else { throw Explanation.usage("SUDO_USER: invalid user name") }
        return name
    }

    func check() throws {
        if let owner, !BridgeNode.isName(owner) { throw UsageError("--owner: invalid user name") }
    }
}
