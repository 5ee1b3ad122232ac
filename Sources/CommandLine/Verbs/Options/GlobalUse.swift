// SPDX-License-Identifier: Apache-2.0

package import Arguments

/// The global options that have an effect on a verb. The others are refused on its command line; in the configuration
/// file and in variables, which are for all verbs, they are ignored. Options for the output and the log apply to every
/// verb, and every verb accepts --virtual, which keeps it from using the keys of this machine.
package struct GlobalUse: OptionSet, Sendable {
    package let rawValue: Int

    package init(rawValue: Int) { self.rawValue = rawValue }

    /// The key of this machine: --device, --reader, --path, --link, --notify.
    package static let device = GlobalUse(rawValue: 1)
    /// --virtual.
    package static let virtual = GlobalUse(rawValue: 2)
    /// --replay and --replay-mode.
    package static let replay = GlobalUse(rawValue: 4)
    /// --record, and --keep-secrets for it.
    package static let record = GlobalUse(rawValue: 8)
    /// --keep-secrets for a recording that the verb itself writes.
    package static let secrets = GlobalUse(rawValue: 16)
    /// --scp and the keys for it.
    package static let channel = GlobalUse(rawValue: 32)
    /// --plan.
    package static let plan = GlobalUse(rawValue: 64)
    /// --plan, for which the verb itself prints something other than exchanges.
    package static let ownPlan = GlobalUse(rawValue: 128)
    /// Of the options that choose a key, only --reader.
    package static let reader = GlobalUse(rawValue: 256)

    /// Verbs that use a key, or may use one.
    package static let key: GlobalUse = [.device, .virtual, .replay, .record, .channel, .plan]
    /// Verbs that only send requests to a server.
    package static let server: GlobalUse = [.replay, .record, .plan]

    /// Whether an option has an effect.
    func has(_ option: String) -> Bool { Self.of(option).map { !isDisjoint(with: $0) } ?? true }

    /// Refuses a line with an option that has no effect. Verbs that need no key ignore a virtual one, so that an alias can
    /// always name it; those that use a reader would use a real one.
    package func check(_ line: [Declaration]) throws(UsageError) {
        let useless = line.first { option in
            option.isGiven && !has(option.name) && (option.name != "virtual" || contains(.reader))
        }
        if let useless { throw UsageError("--\(useless.name) has no effect on this verb") }
    }
}
