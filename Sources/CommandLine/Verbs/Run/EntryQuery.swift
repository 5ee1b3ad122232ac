// SPDX-License-Identifier: Apache-2.0

import Arguments
package import TerminalIO
package import YKWire

/// An entry's name, or a part of it, as typed; never empty.
package struct EntryQuery: ExpressibleByArgument, CustomStringConvertible, Sendable {
    package let text: String

    /// Accepts every text but an empty one, which would match everything.
    package init?(argument: String) {
        guard !argument.isEmpty else { return nil }
        text = argument
    }

    package var description: String { text }

    /// The text as shown to people.
    package var printable: String { text.printable }
}

/// An entry that verbs search for by name, with the words for the outcome.
package protocol ListedEntry: NamedEntry {
    /// The question when several match.
    static var choice: String { get }
    /// The error when none matches.
    static func unknown(_ query: EntryQuery) -> any Error
    /// The error when several match, with the candidates.
    static func several(_ query: EntryQuery, _ found: [Self]) -> Explanation
}

/// An entry of the key with an identifier.
package protocol IdentifiedEntry: ListedEntry {
    /// What it is, such as `credential`.
    static var noun: String { get }
    /// What such an entry is for, after the noun; empty for no words.
    static var use: String { get }
    /// The command that lists them.
    static var listing: String { get }
    /// The identifier, and what else tells it from others.
    var candidate: String { get }
}

extension IdentifiedEntry {
    package static var use: String { "" }
    package static var choice: String { "which \(noun)?" }

    package static func unknown(_ query: EntryQuery) -> any Error {
        Explanation(
            "no-such-\(noun)", .notFound, "the key stores no \(noun) '\(query.printable)'\(use)", hint: listing)
    }

    package static func several(_ query: EntryQuery, _ found: [Self]) -> Explanation {
        Explanation(
            "several-\(noun)s", .severalDevices, "'\(query.printable)' matches \(found.count) \(noun)s",
            hint: "give the identifier of one", candidates: found.map(\.candidate))
    }
}

/// When a verb asks before it changes the entry that it found.
package enum EntryConsent {
    /// Always, unless `--force` is given.
    case always(unless: Confirmation)
    /// Only if a part of the name was given.
    case forPart

    /// Whether `--force` answers the question.
    package var isForced: Bool {
        if case .always(let confirmation) = self { confirmation.force } else { false }
    }
}

extension Run {
    /// Returns the entry to read or use, found by its name or a part of it; the user chooses among several.
    ///
    /// - Parameter isListed: Whether an entry can be found by a part.
    package func entry<Entry: ListedEntry>(
        _ query: EntryQuery, in all: [Entry], isListed: (Entry) -> Bool = { _ in true }
    ) throws -> Entry {
        try one(PartMatch(query.text, in: all, isListed: isListed).all, query)
    }

    /// Returns the entry to delete, rename or change.
    ///
    /// A part of a name is enough only where a question on a terminal names the entry that was found. With `--force`,
    /// with `--json` and without a terminal the name must be whole, so that a repeated command never finds another
    /// entry.
    ///
    /// - Parameter question: The question about an entry.
    package func entry<Entry: ListedEntry>(
        toChange query: EntryQuery, in all: [Entry], _ consent: EntryConsent, _ question: (Entry) -> String
    ) throws -> Entry {
        let entry = try find(toChange: query, in: all, isForced: consent.isForced)
        try agree(on: entry, query, consent, question)
        return entry
    }

    /// Returns the entry to delete, rename or change, before ``agree(on:_:_:_:)`` asks about it.
    package func find<Entry: ListedEntry>(
        toChange query: EntryQuery, in all: [Entry], isForced: Bool
    ) throws -> Entry {
        let whole = WholeMatch(query.text, in: all).all
        guard whole.isEmpty else { return try one(whole, query) }
        let found = PartMatch(query.text, in: all).all
        guard !found.isEmpty else { throw Entry.unknown(query) }
        guard canAskAboutEntries(isForced: isForced) else { throw Self.onlyPart(query, found) }
        return try one(found, query)
    }

    /// Asks about the entry that ``find(toChange:in:isForced:)`` returned.
    package func agree<Entry: ListedEntry>(
        on entry: Entry, _ query: EntryQuery, _ consent: EntryConsent, _ question: (Entry) -> String
    ) throws {
        switch consent {
        case .always(let confirmation): try confirmation.ask(question(entry), in: self)
        case .forPart:
            guard WholeMatch(query.text, in: [entry]).all.isEmpty else { return }
            try confirm(question(entry), unless: false)
        }
    }

    private func one<Entry: ListedEntry>(_ found: [Entry], _ query: EntryQuery) throws -> Entry {
        guard let first = found.first else { throw Entry.unknown(query) }
        guard found.count > 1 else { return first }
        let failure = Entry.several(query, found)
        return found[try choose(Entry.choice, among: failure.candidates.map(\.line), orElse: failure)]
    }

    /// The error for a part of a name where there is no prompt.
    private static func onlyPart<Entry: ListedEntry>(_ query: EntryQuery, _ found: [Entry]) -> any Error {
        var failure = Explanation(Entry.unknown(query))
        failure.message = "'\(query.printable)' is only part of a name: without a prompt, the whole name is required"
        failure.hint = "give the whole name or the identifier, or run this on a terminal without --force and --json"
        failure.candidates = Entry.several(query, found).candidates
        return failure
    }
}
