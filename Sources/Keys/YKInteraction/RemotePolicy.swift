// SPDX-License-Identifier: Apache-2.0

import YKFIDO

/// What programs on another machine may do with the key here: through a remote bridge, where a request names a relying
/// party, whose origin cannot be checked since a message has only the hash of the client data; and through a forwarded SSH
/// agent, where the name is the fingerprint of the host from which the request comes.
public struct RemotePolicy: Hashable, Sendable {
    /// After how many questions in a row without a yes, and for how long, no more are asked.
    package static let (questionLimit, silence) = (5, Duration.seconds(60))

    /// The only names for which something may be asked; empty: all except those that guard secrets of this machine.
    public var allowed: [NamePattern] = []
    /// Names that are allowed like ``allowed``, and without a question.
    public var allowedAlways: [NamePattern] = []
    /// How long a question waits for its answer.
    public var questionTime = Duration.seconds(30)

    /// Creates a policy: the user is asked each time, about any site on the web.
    public init() {}

    /// Why something is refused.
    public enum Refusal: Hashable, Sendable {
        /// A command that is not for the far end, by its name in the standard.
        case command(String)
        /// A site that is not among those allowed.
        case otherSite
        /// A relying party whose credentials guard secrets or log-ins of this machine, not named.
        case localSecret
        /// A search for credentials without a touch, for a site that is not named.
        case probe
        /// There is no enumeration to continue.
        case nothingNext
        /// The user said no, or nothing in time.
        case declined
        /// Too many questions without a yes.
        case tooManyQuestions
        /// The message is malformed.
        case malformed
    }

    /// Why nothing may be asked for a site; `nil` if it may.
    package func refusal(of site: String) -> Refusal? {
        if isNamed(site) { return nil }
        if Self.isLocal(site) { return .localSecret }
        return allowed.isEmpty ? nil : .otherSite
    }

    /// Whether a name is among those allowed.
    package func isNamed(_ name: String) -> Bool { allowed.contains { $0.matches(name) } || isAllowedAlways(name) }

    /// Whether a name needs no question.
    package func isAllowedAlways(_ name: String) -> Bool { allowedAlways.contains { $0.matches(name) } }

    /// Relying parties that look like sites, and are none.
    private static let local = ["age-encryption.org", "io.systemd.cryptsetup", "io.systemd.home"]

    /// Whether a name is no site on the web: a relying party that guards local secrets or log-ins, such as `ssh:`,
    /// `pam://host`, `ykit:store` and the names that programs for disks use, or a name that no browser would send.
    package static func isLocal(_ name: String) -> Bool {
        if local.contains(name) { return true }
        return !DomainName.isValid(name) || name != "localhost" && !name.utf8.contains(UInt8(ascii: "."))
    }
}

/// The name of a relying party or a host, or of several: one `*` stands for any characters.
public struct NamePattern: Hashable, Sendable, CustomStringConvertible {
    private let beginning: String
    private let end: String?

    /// Reads a pattern; `nil` if it is empty, longer than 255 bytes, has a second `*` or a control character.
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

    /// Whether it stands for a name. One that is no site on the web has to be named in full, or at least by its scheme
    /// (`ssh:*`), so that `*` does not include it.
    package func matches(_ name: String) -> Bool {
        guard let end else { return Array(name.utf8) == Array(beginning.utf8) }
        if RemotePolicy.isLocal(name), !beginning.utf8.contains(UInt8(ascii: ":")) { return false }
        let (name, first, last) = (Array(name.utf8), Array(beginning.utf8), Array(end.utf8))
        return name.count >= first.count + last.count && name.starts(with: first)
            && name.suffix(last.count) == last[...]
    }
}
