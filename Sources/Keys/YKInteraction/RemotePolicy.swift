// SPDX-License-Identifier: Apache-2.0

import Synchronization
import YKProtocols

/// What programs on another machine may do with the local key: through a remote bridge, where a request names a relying
/// party, whose origin cannot be checked since a message contains only the hash of the client data; and through a
/// forwarded SSH agent, where the name is the fingerprint of the host from which the request comes.
public struct RemotePolicy: Hashable, Sendable {
    /// The number of consecutive questions without a yes after which no more are asked, and for how long.
    package static let (questionLimit, silence) = (5, Duration.seconds(60))

    /// The only names for which requests are allowed; if empty, all except those that guard secrets of this machine.
    public var allowed: [NamePattern] = []
    /// Names that are allowed without asking the user.
    public var allowedAlways: [NamePattern] = []
    /// How long a question waits for its answer.
    public var questionTime = Duration.seconds(30)

    /// What causes the questions: a program, which waits this long for an answer.
    public var cause: QuestionCause { .program(patience: questionTime) }

    /// Creates a policy that asks the user each time and allows any web site.
    public init() {}

    /// Why a request is refused.
    public enum Refusal: Hashable, Sendable {
        /// A command that the far end may not use, by its name in the standard.
        case command(String)
        /// A site that is not among those allowed.
        case otherSite
        /// A site that is refused.
        case refusedSite
        /// A relying party that is not named and whose credentials guard secrets or log-ins of this machine.
        case localSecret
        /// A search for credentials without a touch, for a site that is not named.
        case probe
        /// There is no enumeration to continue.
        case nothingNext
        /// The user declined, or did not answer in time.
        case declined
        /// Too many questions without a yes.
        case tooManyQuestions
        /// The message is malformed.
        case malformed
    }

    /// Why requests for a site are refused; `nil` if they are allowed.
    package func refusal(of site: String) -> Refusal? {
        if isNamed(site) { return nil }
        if Self.isLocal(site) { return .localSecret }
        return allowed.isEmpty ? nil : .otherSite
    }

    /// Whether a name is among those allowed.
    package func isNamed(_ name: String) -> Bool { allowed.contains { $0.matches(name) } || isAllowedAlways(name) }

    /// Whether a name needs no question.
    package func isAllowedAlways(_ name: String) -> Bool { allowedAlways.contains { $0.matches(name) } }

    /// Relying parties that look like web sites but are not.
    private static let local = ["age-encryption.org", "io.systemd.cryptsetup", "io.systemd.home"]

    /// Whether a name is not a web site: a relying party that guards local secrets or log-ins, such as `ssh:`,
    /// `pam://host`, `ykit:store` and those of disk encryption programs, or a name that no browser would send.
    package static func isLocal(_ name: String) -> Bool {
        if local.contains(name) { return true }
        return !DomainName.isValid(name) || name != "localhost" && !name.utf8.contains(UInt8(ascii: "."))
    }
}

/// A pattern for the names of relying parties or hosts: one `*` stands for any characters.
public struct NamePattern: Hashable, Sendable, CustomStringConvertible {
    private let beginning: String
    private let end: String?

    /// Parses a pattern; `nil` if it is empty or longer than 255 bytes, or has a second `*` or a control character.
    public init?(_ text: String) {
        let parts = text.split(separator: "*", omittingEmptySubsequences: false)
        guard (1...255).contains(text.utf8.count), parts.count <= 2,
            text.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F })
        else { return nil }
        beginning = String(parts[0])
        end = parts.count == 2 ? String(parts[1]) : nil
    }

    /// The pattern as it is written.
    public var description: String { beginning + (end.map { "*" + $0 } ?? "") }

    /// Whether it matches a name. A name that is not a web site must be given in full, or at least with its scheme
    /// (`ssh:*`), so that `*` does not include it.
    package func matches(_ name: String) -> Bool {
        guard let end else { return Array(name.utf8) == Array(beginning.utf8) }
        if RemotePolicy.isLocal(name), !beginning.utf8.contains(UInt8(ascii: ":")) { return false }
        let (name, first, last) = (Array(name.utf8), Array(beginning.utf8), Array(end.utf8))
        return name.count >= first.count + last.count && name.starts(with: first)
            && name.suffix(last.count) == last[...]
    }
}

/// The user's consent to the requests of one remote peer, asked for each of them by the rules of a ``RemotePolicy``: no
/// answer in time means no, and after too many questions without a yes no more are asked for a while.
package final class Consent: Sendable {
    private struct State {
        /// The number of consecutive questions without a yes.
        var refusals = 0
        /// The time until which no question is asked.
        var silentUntil: ContinuousClock.Instant?
    }

    private let state = Mutex(State())

    package init() {}

    /// Whether no questions are asked for now, because too many had no yes.
    package var isSilent: Bool {
        state.withLock { state in
            guard let until = state.silentUntil else { return false }
            if until > .now { return true }
            (state.silentUntil, state.refusals) = (nil, 0)
            return false
        }
    }

    /// Asks, and returns why the person does not agree; `nil` after a yes. If no more questions are asked for now, the
    /// answer is no.
    package nonisolated(nonsending) func refusal<Q: Question>(
        of question: Q, by person: any Person
    ) async -> Declined? where Q.Answer == Void {
        guard !isSilent else { return .no }
        var declined: Declined?
        do throws(Declined) { try await person.answer(question) } catch { declined = error }
        if declined == nil, Task.isCancelled { declined = .withdrawn }
        count(declined == nil)
        return declined
    }

    private func count(_ isYes: Bool) {
        state.withLock { state in
            if isYes { return state.refusals = 0 }
            state.refusals += 1
            if state.refusals >= RemotePolicy.questionLimit {
                state.silentUntil = .now.advanced(by: RemotePolicy.silence)
            }
        }
    }
}
