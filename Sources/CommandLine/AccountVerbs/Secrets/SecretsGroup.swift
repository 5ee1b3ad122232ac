// SPDX-License-Identifier: Apache-2.0

package import Arguments
import TerminalIO
import Verbs
import YKCrypto
import YKKeys
import YKProtocols
import YKSecrets
import YKTransport
import YKWire

/// Commands for the Secrets application of a Nitrokey 3.
package struct SecretsGroup: ParsableCommand {
    package static let about = About(
        "One-time codes and passwords of a Nitrokey 3.",
        discussion: """
            Most entries need no PIN. Entries that the PIN protects are listed and found only with it; ykit asks for \
            it only if an entry is not among the others. The key requires a touch before it compares a PIN, and before \
            it changes or deletes anything.
            """,
        subcommands: [
            "info": SecretsShowInfo.self, "list": SecretsList.self, "add": SecretsAdd.self,
            ["code", "calculate"]: SecretsCode.self, "verify": SecretsVerify.self, "show": SecretsShow.self,
            "update": SecretsUpdate.self, "rename": SecretsRename.self, "delete": SecretsDelete.self,
            "export": SecretsExport.self, "pin": SecretsPINGroup.self, "reset": SecretsReset.self,
        ],
        examples: [Example("ykit secrets list"), Example("ykit secrets code mail")])

    package init() {}
}

extension Run {
    /// Opens the Secrets application of the selected key.
    func openSecrets() async throws -> SecretsService {
        try await choosing { try await $0.open(SecretsService.self) }
    }

    /// Returns the PIN of the Secrets application, given or asked for. With `--plan` no PIN is sent, so none is asked
    /// for.
    func secretsPIN(_ options: PINOptions, of service: SecretsService, to purpose: String) async throws -> SharedSecret
    {
        let info = await service.info
        try perform { if !info.hasPIN { throw SecretsError.noPIN } }
        guard info.pinRetries != 0 else { throw SecretsError.pinBlocked }
        return try await obtain(
            .secretsPIN, source(of: .secretsPIN, options), to: purpose, triesLeft: info.pinRetries)
    }

    /// Returns the entry that a query names: by its name or a part of it, first among those that need no PIN. The PIN
    /// is used to search all entries only if none of these matches.
    func secretsEntry(
        _ query: EntryQuery, _ service: SecretsService, _ pin: PINOptions, to purpose: String
    ) async throws -> FoundSecretsEntry {
        try await search(query, service, pin, to: purpose, byPart: true) { try self.entry(query, in: $0) }
    }

    /// Returns the entry to change or delete, see ``Run/entry(toChange:in:_:_:)``.
    func secretsEntry(
        toChange query: EntryQuery, _ service: SecretsService, _ pin: PINOptions, to purpose: String,
        _ consent: EntryConsent, _ question: (String) -> String
    ) async throws -> FoundSecretsEntry {
        let byPart = canAskAboutEntries(isForced: consent.isForced)
        return try await search(query, service, pin, to: purpose, byPart: byPart) {
            try self.entry(toChange: query, in: $0, consent) { question($0.name.text.printable) }
        }
    }

    private func search(
        _ query: EntryQuery, _ service: SecretsService, _ pin: PINOptions, to purpose: String, byPart: Bool,
        _ find: ([SecretsEntry]) throws -> SecretsEntry
    ) async throws -> FoundSecretsEntry {
        let open = try await service.entries()
        let found = byPart ? PartMatch(query.text, in: open).all : WholeMatch(query.text, in: open).all
        let isAskable = source(of: .secretsPIN, pin).isGiven(terminal) || hasPerson
        guard found.isEmpty, await service.info.hasPIN, isAskable else {
            return FoundSecretsEntry(try find(open), pin: nil)
        }
        let secret = try await secretsPIN(pin, of: service, to: purpose)
        let all = try await touching("look for '\(query.printable)' among the protected entries") {
            try await service.entries(pin: secret)
        }
        return FoundSecretsEntry(try find(all), pin: secret)
    }
}

extension SecretsEntry: ListedEntry {
    static var choice: String { "which entry?" }

    static func unknown(_ query: EntryQuery) -> any Error {
        do { return SecretsError.noSuchEntry(try SecretsName(query.text)) } catch { return error }
    }

    static func several(_ query: EntryQuery, _ found: [SecretsEntry]) -> Explanation {
        Explanation(
            "several-entries", .severalDevices, "\(found.count) entries match '\(query.printable)'",
            hint: "give the full name of one", candidates: found.map { $0.name.text.printable })
    }
}

/// The entry that a verb operates on.
struct FoundSecretsEntry {
    let entry: SecretsEntry
    /// The PIN, if the entry was found only with it.
    let pin: SharedSecret?
    /// The name.
    var name: SecretsName { entry.name }
    /// The name as it is shown.
    var text: String { entry.name.text.printable }
    /// Whether exchanges about this entry wait for a touch.
    var waits: Bool { pin != nil || entry.needsTouch != false }

    init(_ entry: SecretsEntry, pin: SharedSecret?) { (self.entry, self.pin) = (entry, pin) }

    /// Runs an exchange that waits for a touch if the entry, or the PIN, requires one.
    func touching<Value>(_ purpose: String, _ run: Run, _ body: () async throws -> Value) async throws -> Value {
        guard waits else { return try await body() }
        return try await run.touching(purpose, body)
    }
}

extension SecretsEntry: Report {
    static let members: [Member<SecretsEntry>] = [
        Member("name") { $0.name.text },
        Member("type", "totp, hotp, reverse-hotp, hmac, or password for none of these") { $0.kind.description },
        Member("algorithm") { $0.kind == .none ? nil : $0.algorithm.description },
        Member("touch") { $0.needsTouch },
        Member("protected", "by the PIN") { $0.isProtected },
        Member("hasPassword", "a login or a password") { $0.hasPassword },
    ]
}

/// The state of the application.
struct SecretsState: Report {
    let info: SecretsInfo
    static let members: [Member<SecretsState>] = [
        Member("version", title: "version") { $0.info.version.description },
        Member("serial", "in hexadecimal", title: "serial", absent: "not reported") {
            $0.info.serial.map { Hex.encode($0) }
        },
        Member(
            "hasPin", title: "PIN",
            line: { state in
                state.info.hasPIN ? state.info.pinRetries.map { "set, \(Tries.left($0))" } ?? "set" : "not set"
            }
        ) { $0.info.hasPIN },
        Member("pinSet", "the same as hasPin") { $0.info.hasPIN },
        Member("pinRetries") { $0.info.pinRetries },
    ]
}

/// Shows the state of the application.
struct SecretsShowInfo: Verb {
    static let about = About(
        "Show version, serial number and PIN tries.", examples: [Example("ykit secrets info")])

    func run(in run: Run) async throws -> Outcome<SecretsState> {
        let state = SecretsState(info: await (try run.openSecrets()).info)
        return Outcome(state, state.details)
    }
}

/// Lists entries.
struct SecretsList: Verb {
    static let about = About(
        "List the entries that need no PIN; with --protected, all entries.",
        examples: [Example("ykit secrets list"), Example("ykit secrets list --protected")])
    static let answer = Shape(Item<[SecretsEntry]>("entries"))

    @Flag("--protected", help: "Also list the entries that the PIN protects.") var protected = false

    @OptionGroup var pin: PINOptions

    func run(in run: Run) async throws -> Outcome<[SecretsEntry]> {
        let service = try await run.openSecrets()
        let entries: [SecretsEntry]
        if protected {
            let secret = try await run.secretsPIN(pin, of: service, to: "list the protected entries")
            entries = try await run.touching("list the protected entries") {
                try await service.entries(pin: secret)
            }
        } else {
            entries = try await service.entries()
        }
        if entries.isEmpty { run.terminal.note("no entries yet; add one with: ykit secrets add NAME") }
        let rows = entries.map { entry in
            [
                entry.name.text.printable, entry.kind.description, entry.needsTouch == true ? "touch" : "",
                entry.isProtected == true ? "PIN" : "",
                entry.hasPassword == true && entry.kind != .none ? "password" : "",
            ]
        }
        return Outcome(entries, Table.lines(rows))
    }
}
