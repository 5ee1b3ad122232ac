// SPDX-License-Identifier: Apache-2.0

import Arguments
import TerminalIO
import Verbs
import YKCrypto
import YKProtocols
import YKSecrets

/// Changes an entry.
struct SecretsUpdate: Verb {
    static let readsLines = true
    static let about = About(
        "Change login, password, metadata or touch of an entry.",
        discussion:
            """
            Fields not given stay unchanged; an empty value removes a field. The secret for codes cannot change. Values \
            are read from standard input in this order: password, metadata, PIN.
            """,
        examples: [
            Example("ykit secrets update bank --login alice2"),
            Example("ykit secrets update bank --password", "Prompts for the new password."),
        ])
    static let answer = Shape(Item<String>("name"))

    @Argument("query", help: "The entry: its name or part of it.") var query: EntryQuery

    @Option(["--login", "-l"], help: "New user name.") var login: String?

    @Flag("--password", help: "Prompt for a new password.") var changesPassword = false

    @Flag("--touch", help: "Require a touch for each use.") var touch = false

    @Flag("--without-touch", help: "Require no touch.") var withoutTouch = false

    @OptionGroup var password: SecretOptions<EntryPassword>
    @OptionGroup var metadata: SecretOptions<EntryMetadata>
    @OptionGroup var pin: PINOptions

    private var changesTouch: Bool? { touch ? true : withoutTouch ? false : nil }

    func check() throws {
        if touch, withoutTouch { throw UsageError("--touch and --without-touch cannot be combined") }
    }

    func run(in run: Run) async throws -> Outcome<String> {
        let setsPassword = changesPassword || password.source.isGiven(run.terminal)
        guard setsPassword || login != nil || changesTouch != nil || metadata.source.isGiven(run.terminal) else {
            throw Explanation.usage(
                "nothing to change: give --login, --password, --metadata-stdin or --touch",
                hint: "ykit secrets update [options] <query>; more with 'ykit secrets update --help'")
        }
        var record = SecretsRecord(login: login)
        if setsPassword {
            record.password = SharedSecret(try password.source.readNew(run.terminal, asking: "new password"))
        }
        record.metadata = try metadata.source.given(run.terminal)
        let change = SecretsChange(record: record, needsTouch: changesTouch)
        let service = try await run.openSecrets()
        let found = try await run.secretsEntry(
            toChange: query, service, pin, to: "change an entry", .forPart
        ) { "change '\($0)'?" }
        try await run.touching("change '\(found.text)'") {
            try await service.update(found.name, change, pin: found.pin)
        }
        return Outcome(found.name.text, "changed '\(found.text)'")
    }
}

/// Renames an entry.
struct SecretsRename: Verb {
    static let about = About(
        "Rename an entry.", examples: [Example("ykit secrets rename bank bank:alice")])
    typealias Reported = (old: String, new: String)
    static let answer = Shape<Reported>(Member("name", "the old name") { $0.old }, Member("newName") { $0.new })

    @Argument("query", help: "The entry: its name or part of it.") var query: EntryQuery

    @Argument("name", help: "The new name.") var newName: String

    @OptionGroup var confirmation: Confirmation
    @OptionGroup var pin: PINOptions

    func run(in run: Run) async throws -> Outcome<Reported> {
        let new = try SecretsName(newName)
        let service = try await run.openSecrets()
        let found = try await run.secretsEntry(
            toChange: query, service, pin, to: "rename an entry", .always(unless: confirmation)
        ) { "rename '\($0)' to '\(newName.printable)'?" }
        try await run.touching("rename '\(found.text)'") {
            try await service.update(found.name, SecretsChange(name: new), pin: found.pin)
        }
        return Outcome(
            (old: found.name.text, new: new.text),
            "renamed '\(found.text)' to '\(newName.printable)'")
    }
}

/// Deletes an entry.
struct SecretsDelete: Verb {
    static let about = About(
        "Delete an entry. Its secret and its password cannot be recovered.",
        examples: [Example("ykit secrets delete bank")])
    static let answer = Shape(Item<String>("name"))

    @Argument("query", help: "The entry: its name or part of it.") var query: EntryQuery

    @OptionGroup var confirmation: Confirmation
    @OptionGroup var pin: PINOptions

    func run(in run: Run) async throws -> Outcome<String> {
        let service = try await run.openSecrets()
        let found = try await run.secretsEntry(
            toChange: query, service, pin, to: "delete an entry", .always(unless: confirmation)
        ) { "the secret of '\($0)' would be permanently lost: delete it?" }
        try await run.touching("delete '\(found.text)'") {
            try await service.delete(found.name, pin: found.pin)
        }
        return Outcome(found.name.text, "deleted '\(found.text)'")
    }
}

/// Deletes everything.
struct SecretsReset: Verb {
    static let about = About(
        "Delete all entries and the PIN.",
        discussion: "The key requires a touch, but no PIN. Its other applications are not affected.",
        examples: [Example("ykit secrets reset")])
    static let answer = Shape(done: "reset")

    @OptionGroup var confirmation: Confirmation

    func run(in run: Run) async throws -> Outcome<Void> {
        let service = try await run.openSecrets()
        try confirmation.ask(
            typing: "reset", "this permanently deletes all entries of the Secrets application, and the PIN", in: run)
        try await run.touching("delete all entries and the PIN") { try await service.reset() }
        return Outcome(done: "all entries and the PIN deleted")
    }
}

/// Commands for the PIN.
struct SecretsPINGroup: ParsableCommand {
    static let about = About(
        "The PIN that protects entries.",
        discussion: "After eight wrong PINs only a reset helps; entries without protection remain usable.",
        subcommands: ["set": SecretsPINSet.self, "change": SecretsPINChange.self, "verify": SecretsPINVerify.self],
        examples: [Example("ykit secrets pin set")])
}

/// The PIN after a change.
struct SecretsPINState: Report {
    let info: SecretsInfo
    static let members: [Member<SecretsPINState>] = [
        Member("hasPin") { $0.info.hasPIN },
        Member("pinSet", "the same as hasPin") { $0.info.hasPIN },
        Member("pinRetries") { $0.info.pinRetries },
    ]
}

extension Run {
    /// Returns a new PIN, given or asked for twice.
    fileprivate func newSecretsPIN(_ options: NewPINOptions) async throws -> SharedSecret {
        let question = TerminalQuestion(
            asking: "new PIN", objection: "the PIN must not be empty", orElse: options.source.hint)
        return try await obtain(.secretsPIN, options.source, question, isNew: true)
    }
}

/// Sets the first PIN.
struct SecretsPINSet: Verb {
    static let about = About("Set the first PIN.", examples: [Example("ykit secrets pin set")])

    @OptionGroup var new: NewPINOptions

    func run(in run: Run) async throws -> Outcome<SecretsPINState> {
        let service = try await run.openSecrets()
        guard await !service.info.hasPIN else { throw SecretsError.pinExists }
        let pin = try await run.newSecretsPIN(new)
        try await run.touching("set the PIN") { try await service.setPIN(pin) }
        return Outcome(SecretsPINState(info: await service.info), "PIN set")
    }
}

/// Changes the PIN.
struct SecretsPINChange: Verb {
    static let readsLines = true
    static let about = About(
        "Change the PIN.", discussion: PINChangeOptions.order,
        examples: [Example("ykit secrets pin change")])

    @OptionGroup var pins: PINChangeOptions

    func run(in run: Run) async throws -> Outcome<SecretsPINState> {
        let service = try await run.openSecrets()
        let old = try await run.secretsPIN(pins.pin, of: service, to: "change it")
        let new = try await run.newSecretsPIN(pins.new)
        try await run.touching("change the PIN") { try await service.changePIN(from: old, to: new) }
        return Outcome(SecretsPINState(info: await service.info), "PIN changed")
    }
}

/// Verifies the PIN.
struct SecretsPINVerify: Verb {
    static let about = About(
        "Verify the PIN; a wrong one uses up a try.", examples: [Example("ykit secrets pin verify")])

    @OptionGroup var pin: PINOptions

    func run(in run: Run) async throws -> Outcome<SecretsPINState> {
        let service = try await run.openSecrets()
        let secret = try await run.secretsPIN(pin, of: service, to: "verify it")
        try await run.touching("verify the PIN") { try await service.verify(pin: secret) }
        return Outcome(SecretsPINState(info: await service.info), "the PIN is correct")
    }
}
