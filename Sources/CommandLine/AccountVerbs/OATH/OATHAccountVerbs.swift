// SPDX-License-Identifier: Apache-2.0

import Arguments
import Verbs
import YKCrypto
import YKOATH
import YKWire

/// Renames an account.
struct OATHRename: Verb {
    static let about = About(
        "rename", "Rename an account (firmware 5.3.1 and later).",
        discussion: "NAME is the whole new name, 'issuer:name'; the period stays.", members: ["id", "newId"])

    @Argument(
        "query", help: "Which account: its name or a part of it; 60/NAME for the one of that period.",
        completion: .accounts)
    var query: String

    @Argument("name", help: "The new name, 'issuer:name'.") var newName: String

    @OptionGroup var confirmation: Confirmation
    @OptionGroup var password: PasswordOptions

    func answer(in world: World) async throws -> Answer {
        let service = try await world.oath(password)
        let accounts = try await service.accounts()
        let id = try OATHAccountID.one(query, in: accounts.map(\.id), showHidden: true, world)
        let new = OATHAccountID(issuer: nil, name: newName, period: id.period, type: id.type)
        if accounts.contains(where: { $0.id.rawName == new.rawName }) {
            throw Explanation(
                "exists", .policy, "an account '\(new.text.printable)' is there already",
                hint: "delete it first, or choose another name")
        }
        try confirmation.ask("rename '\(id.text.printable)' to '\(new.text.printable)'?", in: world)
        try await service.rename(id, to: new)
        return Answer(
            "renamed '\(id.text.printable)' to '\(new.text.printable)'",
            ["id": .string(id.text), "newId": .string(new.text)])
    }
}

/// Deletes an account.
struct OATHDelete: Verb {
    static let about = About("delete", "Delete an account. Its secret cannot be recovered.", members: ["id"])

    @Argument(
        "query", help: "Which account: its name or a part of it; 60/NAME for the one of that period.",
        completion: .accounts)
    var query: String

    @OptionGroup var confirmation: Confirmation
    @OptionGroup var password: PasswordOptions

    func answer(in world: World) async throws -> Answer {
        let service = try await world.oath(password)
        let ids = try await service.accounts().map(\.id)
        let id = try OATHAccountID.one(query, in: ids, showHidden: true, world)
        let told = id.told(among: ids)
        try confirmation.ask("delete '\(told)'? its secret cannot be recovered", in: world)
        try await service.delete(id)
        return Answer("deleted '\(told)'", ["id": .string(id.text)])
    }
}

/// Adds an account from an otpauth URI.
struct OATHUri: Verb {
    static let about = About(
        "uri", "Add an account from an otpauth:// URI.",
        discussion:
            "A URI contains a secret: read it from standard input, with '-', rather than from the command line.",
        members: ["account"])

    @Argument("uri", help: "otpauth://…, or - for standard input.") var uri: String

    @Flag(["--touch", "-t"], help: "Require a touch for each code.") var touch = false

    @Flag(["--force", "-f"], help: "Overwrite accounts of the same name.") var force = false

    @OptionGroup var password: PasswordOptions

    func answer(in world: World) async throws -> Answer {
        let text: String
        if uri == "-" {
            text = String(decoding: try SecretInput.line(from: 0).copyBytes(), as: UTF8.self)
        } else {
            world.terminal.warn("a secret on the command line can be seen by others; use: ykit oath uri -")
            text = uri
        }
        if MigrationPayload.matches(text) {
            throw Explanation.usage(
                "this is an export of several accounts", hint: "save it in a file, or pipe it: ykit oath import -")
        }
        var account = try Self.parse(text)
        account.needsTouch = touch
        let service = try await world.oath(password)
        try await AccountWriter(service: service).write(account, force: force)
        return Answer("added '\(account.id.text.printable)'", ["account": account.json])
    }

    private static func parse(_ text: String) throws -> NewOATHAccount {
        do { return try OtpauthURI.parse(text) } catch { throw Explain.unusable(error) }
    }
}

/// Exports the account data that a key discloses.
struct OATHExport: Verb {
    static let about = About(
        "export",
        "Export names, types, algorithms and periods. Keys never reveal secrets.",
        discussion: "The lines are otpauth URIs without a secret; nothing can be enrolled from them.",
        members: ["accounts"])

    @OptionGroup var password: PasswordOptions

    func answer(in world: World) async throws -> Answer {
        let service = try await world.oath(password)
        let accounts = try await service.accounts()
        let known = try await service.codes(at: world.now)
        let merged = accounts.map { account in
            var account = account
            let entry = known.first { $0.account.id.rawName == account.id.rawName }
            account.digits = account.digits ?? entry?.account.digits
            account.needsTouch = account.needsTouch ?? entry?.account.needsTouch
            return account
        }
        let uris = merged.map(OtpauthURI.textWithoutSecret)
        var answer = Answer(
            uris,
            ["accounts": .array(zip(merged, uris).map { .object($0.json.with("uri", .string($1))) })])
        answer.warnings = ["keys never reveal secrets: this is a list, not a backup"]
        return answer
    }
}

extension JSONValue.Object {
    func with(_ key: String, _ value: JSONValue) -> JSONValue.Object {
        var copy = self
        copy[key] = value
        return copy
    }
}

extension OATHEntry {
    /// The account with its code and the code's period of validity.
    var json: JSONValue {
        var object = account.json
        object["code"] = code.map { .string($0.text) } ?? .null
        object["validFrom"] = code.map { .int($0.validFrom) } ?? .null
        object["validTo"] = code?.validTo.map(JSONValue.int) ?? .null
        if case .failed(let error) = outcome {
            object["error"] = Explain.oath(error).json
        } else {
            object["error"] = .null
        }
        return .object(object)
    }

    /// The code, or the reason for its absence in brackets.
    var text: String {
        switch outcome {
        case .code(let code): code.text
        case .needsTouch: "[touch]"
        case .hotp: "[counter]"
        case .separate: ""
        case .failed: "[failed]"
        }
    }
}
