// SPDX-License-Identifier: Apache-2.0

import Applications
import Arguments
import TerminalIO
import Verbs
import YKCrypto
import YKOATH

/// Renames an account.
struct OATHRename: Verb {
    static let about = About(
        "Rename an account (firmware 5.3.1 and later).",
        discussion: "NAME is the full new name, 'issuer:name'; the period does not change.",
        examples: [Example("ykit oath rename GitHub:alice@example.com GitHub:alice")])
    typealias Reported = (old: OATHAccountID, new: OATHAccountID)
    static let answer = Shape<Reported>(Member("id", "the old name") { $0.old.text }, Member("newId") { $0.new.text })

    @Argument(
        "query", help: "The account: its name or part of it; 60/NAME selects the one with period 60.",
        completion: .accounts)
    var query: EntryQuery

    @Argument("name", help: "The new name, 'issuer:name'.") var newName: String

    @OptionGroup var confirmation: Confirmation
    @OptionGroup var password: PasswordOptions

    func run(in run: Run) async throws -> Outcome<Reported> {
        let service = try await run.oath(password)
        let accounts = try await service.accounts()
        let all = accounts.map(\.id)
        let id = try run.find(toChange: query, in: all, isForced: confirmation.force)
        let new = OATHAccountID(issuer: nil, name: newName, period: id.period, type: id.type)
        if accounts.contains(where: { $0.id.rawName == new.rawName }) {
            throw Explanation(
                "exists", .policy, "an account '\(new.text.printable)' already exists",
                hint: "delete it first, or choose another name")
        }
        try run.agree(on: id, query, .always(unless: confirmation)) {
            "rename '\($0.text.printable)' to '\(new.text.printable)'?"
        }
        try await service.rename(id, to: new)
        return Outcome(
            (old: id, new: new), "renamed '\(id.text.printable)' to '\(new.text.printable)'")
    }
}

/// Deletes an account.
struct OATHDelete: Verb {
    static let about = About(
        "Delete an account. Its secret cannot be recovered.",
        examples: [Example("ykit oath delete GitHub:alice@example.com")])
    static let answer = Shape(Item<OATHAccountID>("id") { $0.text })

    @Argument(
        "query", help: "The account: its name or part of it; 60/NAME selects the one with period 60.",
        completion: .accounts)
    var query: EntryQuery

    @OptionGroup var confirmation: Confirmation
    @OptionGroup var password: PasswordOptions

    func run(in run: Run) async throws -> Outcome<OATHAccountID> {
        let service = try await run.oath(password)
        let ids = try await service.accounts().map(\.id)
        let id = try run.entry(toChange: query, in: ids, .always(unless: confirmation)) {
            "the secret of '\($0.displayName(among: ids))' would be lost: delete it?"
        }
        let name = id.displayName(among: ids)
        try await service.delete(id)
        return Outcome(id, "deleted '\(name)'")
    }
}

/// Adds an account from an otpauth URI.
struct OATHUri: Verb {
    static let about = About(
        "Add an account from an otpauth:// URI.",
        discussion:
            "A URI contains a secret: read it from standard input, with '-', rather than from the command line.",
        examples: [Example("ykit oath uri - < account.uri", "Add the account of an otpauth:// URI in a file.")])
    static let answer = Shape(Item<OATHAccount>("account"))

    @Argument("uri", help: "otpauth://…, or - for standard input.", completion: .inputText) var uri: String

    @Flag(["--touch", "-t"], help: "Require a touch for each code.") var touch = false

    @Flag(["--force", "-f"], help: "Overwrite accounts with the same name.") var force = false

    @OptionGroup var password: PasswordOptions

    func run(in run: Run) async throws -> Outcome<OATHAccount> {
        let text: String
        if uri == "-" {
            text = String(decoding: try SecretInput.line(from: 0).copyBytes(), as: UTF8.self)
        } else {
            run.terminal.warn(
                "exposed-secret", "a secret on the command line can be seen by others; use: ykit oath uri -")
            text = uri
        }
        if MigrationPayload.matches(text) {
            throw Explanation.usage(
                "this is an export of several accounts", hint: "save it in a file, or pipe it: ykit oath import -")
        }
        var account = try Self.parse(text)
        account.needsTouch = touch
        let service = try await run.oath(password)
        try await AccountWriter(service: service).write(account, force: force)
        var outcome = Outcome(account.withoutSecret, "added '\(account.id.text.printable)'")
        outcome.answer.warnings = OtpauthURI.misnamedParameters(of: text).map { Warning("ignored", Self.words($0)) }
        return outcome
    }

    /// Names a parameter that is not one of the format's, and was ignored.
    static func words(_ parameter: (name: String, meant: String?)) -> String {
        "ignored '\(parameter.name)'"
            + (parameter.meant.map { ": otpauth URIs have '\($0)' for it" } ?? ": a key counts time steps from 1970")
    }

    private static func parse(_ text: String) throws -> NewOATHAccount {
        return try OtpauthURI.parse(text)
    }
}

/// An account as a URI.
struct ExportedAccount: Report {
    let account: OATHAccount
    var uri: String { OtpauthURI.textWithoutSecret(account) }

    static let members: [Member<ExportedAccount>] =
        including { $0.account } + [Member("uri", "otpauth, without a secret") { $0.uri }]
}

/// Exports the account data that a key discloses.
struct OATHExport: Verb {
    static let about = About(
        "Export names, types, algorithms and periods. Keys never reveal secrets.",
        discussion: "The lines are otpauth URIs without a secret; nothing can be enrolled from them.",
        examples: [Example("ykit oath export"), Example("ykit oath export --json > accounts.json")])
    static let answer = Shape(Item<[ExportedAccount]>("accounts"))

    @OptionGroup var password: PasswordOptions

    func run(in run: Run) async throws -> Outcome<[ExportedAccount]> {
        let service = try await run.oath(password)
        let accounts = try await service.accounts()
        let known = try await service.codes(at: run.now)
        let merged = accounts.map { account -> ExportedAccount in
            var account = account
            let entry = known.first { $0.account.id.rawName == account.id.rawName }
            account.digits = account.digits ?? entry?.account.digits
            account.needsTouch = account.needsTouch ?? entry?.account.needsTouch
            return ExportedAccount(account: account)
        }
        var outcome = Outcome(merged, merged.map(\.uri))
        outcome.answer.warnings = [Warning("not-exported", "keys never reveal secrets: this is a list, not a backup")]
        return outcome
    }
}
