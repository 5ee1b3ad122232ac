// SPDX-License-Identifier: Apache-2.0

package import Arguments
import TerminalIO

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

    /// The options of a line by name, and whether each is given.
    private static func options(_ line: GlobalOptions) -> [(GlobalUse, name: String, isGiven: Bool)] {
        let channel = line.channel
        return [
            (.device, "--device", line.device != nil), ([.device, .reader], "--reader", line.reader != nil),
            (.device, "--path", line.path != nil), (.device, "--link", line.link != nil),
            (.replay, "--replay", line.replay != nil),
            (.replay, "--replay-mode", line.replayMode != nil), (.record, "--record", line.record != nil),
            ([.record, .secrets], "--keep-secrets", line.keepSecrets), (.channel, "--scp", channel.scp != nil),
            (.channel, "--scp-keys", channel.scpKeys != nil), (.channel, "--scp-keys-fd", channel.scpKeysFd != nil),
            (.channel, "--scp-ca", channel.scpCa != nil), (.channel, "--scp-card-key", channel.scpCardKey != nil),
            (.channel, "--scp-oce", channel.scpOce != nil), (.channel, "--scp-oce-ca", channel.scpOceCa != nil),
            (.channel, "--scp-password-fd", channel.scpPasswordFd != nil), (.plan, "--plan", line.plan),
            ([.device, .reader], "--notify", line.notify),
            ([.device, .reader, .replay, .record], "--timeout", line.timeout != nil),
        ]
    }

    /// Refuses a line with an option that has no effect.
    package func check(_ line: GlobalOptions) throws(UsageError) {
        let useless = Self.options(line).first { $0.isGiven && isDisjoint(with: $0.0) }
        if let useless { throw UsageError("\(useless.name) has no effect on this verb") }
        // Verbs that need no key ignore a virtual one, so that an alias can always name it; these would use a real one.
        if line.virtual != nil, contains(.reader) { throw UsageError("--virtual has no effect on this verb") }
    }

    /// Removes the options that have no effect.
    package func reduce(_ options: inout GlobalOptions) {
        if !contains(.device) { (options.device, options.path, options.link) = (nil, nil, nil) }
        if isDisjoint(with: [.device, .reader]) { options.reader = nil }
        if !contains(.virtual) { options.virtual = nil }
        if !contains(.replay) { (options.replay, options.replayMode) = (nil, nil) }
        if !contains(.record) { options.record = nil }
        if isDisjoint(with: [.record, .secrets]) { options.keepSecrets = false }
        if !contains(.channel) { options.channel = SecureChannelOptions() }
        if !contains(.plan) { options.plan = false }
        if isDisjoint(with: [.device, .reader]) { options.notify = false }
        if isDisjoint(with: [.device, .reader, .replay, .record]) { options.timeout = nil }
    }
}
