// SPDX-License-Identifier: Apache-2.0

import Arguments
import TerminalIO
import Verbs
import YKCrypto
import YKSecrets
import YKWire

/// Calculates a code.
struct SecretsCode: Verb {
    static let about = About(
        "Show the code of an entry. A counter-based one advances.",
        examples: [
            Example("ykit secrets code mail"), Example("ykit secrets code mail --clipboard"),
        ])
    typealias Reported = (name: String, code: String, time: Int64, end: Int64?)
    static let answer = Shape<Reported>(
        Member("name") { $0.name }, Member("code") { $0.code }, Member("time", "the time of the code") { $0.time },
        Member("validTo", "the first second after it") { $0.end })

    @Argument("query", help: "The entry: its name or part of it.") var query: EntryQuery

    @Flag(["--clipboard", "-c"], help: "Copy the code to the clipboard, and clear it when the code expires.")
    var clipboard = false

    @Option("--at <seconds>", help: "Calculate the code for this time, in seconds since 1970.") var at: Int64?

    @Option(["-P", "--period"], help: "How long a code is valid, in seconds; the key does not store it.") var period =
        30

    @OptionGroup var pin: PINOptions

    func check() throws {
        if period < 1 || period > Int(Int32.max) { throw UsageError("a period must be at least 1 s") }
    }

    func run(in run: Run) async throws -> Outcome<Reported> {
        let service = try await run.openSecrets()
        let found = try await run.secretsEntry(query, service, pin, to: "calculate a code")
        let (time, period) = (at ?? run.now, Int64(period))
        let isCounted = found.entry.kind == .hotp
        let code = try await found.touching("calculate a code of '\(found.text)'", run) {
            isCounted
                ? try await service.nextCode(of: found.name, pin: found.pin)
                : try await service.code(of: found.name, at: time, period: period, pin: found.pin)
        }
        let (end, overflows) = (time - (time % period + period) % period).addingReportingOverflow(period)
        if clipboard {
            let seconds = isCounted ? 30 : max(1, end - run.now)
            try run.stage.copy(code, for: seconds)
            run.terminal.notice("the code is on the clipboard for \(seconds) s")
        }
        var outcome = Outcome(
            (name: found.name.text, code: code, time: time, end: isCounted || overflows ? nil : end),
            clipboard ? [] : [Style.bold.around(code)])
        outcome.answer.isMadeOnce = isCounted && !clipboard
        return outcome
    }
}

/// Verifies a code of another device.
struct SecretsVerify: Verb {
    static let about = About(
        "Verify a code of another device, with an entry of type reverse-hotp.",
        discussion: """
            The code may be one of the next ten. The key shows the result too: its light turns green, or red for a \
            wrong code.
            """,
        examples: [Example("ykit secrets verify laptop 282760")])
    static let answer = Shape<String>(Member("name"), Member("verified", "a wrong code is an error") { _ in true })

    @Argument("query", help: "The entry: its name or part of it.") var query: EntryQuery

    @Argument("code", help: "The code that the other device shows.") var code: String

    @OptionGroup var pin: PINOptions

    func run(in run: Run) async throws -> Outcome<String> {
        let service = try await run.openSecrets()
        let found = try await run.secretsEntry(query, service, pin, to: "verify a code")
        try await found.touching("verify a code with '\(found.text)'", run) {
            try await service.verify(code, of: found.name, pin: found.pin)
        }
        return Outcome(found.name.text, "the code is correct")
    }
}

/// The contents of an entry.
struct ShownSecretsEntry: Report {
    let content: SecretsContent
    let kind: SecretsKind
    static let members: [Member<ShownSecretsEntry>] = [
        Member("name") { $0.content.name.text },
        Member("type", "totp, hotp, reverse-hotp, hmac, or password for none of these") { $0.kind.description },
        Member("login", title: "login") { $0.content.record.login },
        Member("password", title: "password") { $0.content.record.password?.shown },
        Member("metadata", title: "metadata") { $0.content.record.metadata?.shown },
    ]
}

extension SharedSecret {
    /// The text as shown to the user who asked for it; bytes that are not UTF-8 are replaced.
    fileprivate var shown: String { value.withBytes { String(decoding: $0, as: UTF8.self) } }
}

/// Shows login, password and metadata.
struct SecretsShow: Verb {
    static let about = About(
        "Show login, password and metadata of an entry.",
        discussion: "With --field only that field is printed. Secrets of one-time codes cannot be read.",
        examples: [
            Example("ykit secrets show bank"), Example("ykit secrets show bank --field password --clipboard"),
        ])

    @Argument("query", help: "The entry: its name or part of it.") var query: EntryQuery

    @Option("--field", help: "Print only this field: login, password or metadata.") var field: Field?

    @Flag(["--clipboard", "-c"], help: "Copy the field to the clipboard for 30 seconds.") var clipboard = false

    @OptionGroup var pin: PINOptions

    /// The fields of an entry.
    enum Field: String, CaseIterable, ExpressibleByArgument {
        case login, password, metadata
    }

    func check() throws {
        if clipboard, field == nil { throw UsageError("--clipboard needs --field") }
    }

    func run(in run: Run) async throws -> Outcome<ShownSecretsEntry> {
        let service = try await run.openSecrets()
        let found = try await run.secretsEntry(query, service, pin, to: "read an entry")
        let content = try await found.touching("read '\(found.text)'", run) {
            try await service.content(of: found.name, pin: found.pin)
        }
        let report = ShownSecretsEntry(content: content, kind: found.entry.kind)
        guard let field else { return Outcome(report, report.details) }
        guard let text = report.json.object?[field.rawValue]?.string else {
            throw Explanation("no-such-field", .notFound, "'\(found.text)' has no \(field.rawValue)")
        }
        guard clipboard else {
            var outcome = Outcome(report)
            outcome.answer.raw = Array((text + "\n").utf8)
            return outcome
        }
        try run.stage.copy(text, for: 30)
        run.terminal.notice("the \(field.rawValue) is on the clipboard for 30 s")
        return Outcome(report)
    }
}

/// Exports what can be read of the entries.
struct SecretsExport: Verb {
    static let about = About(
        "Write logins, passwords and metadata to a file. Keys never reveal secrets of codes.",
        discussion: """
            The file contains one JSON object, or with --format csv a table that password managers import; only you \
            can read it. It is not encrypted. Each entry that is protected or requires a touch needs a separate touch.
            """,
        examples: [
            Example("ykit secrets export passwords.json"), Example("ykit secrets export passwords.csv --format csv"),
        ]
    )
    typealias Reported = (entries: [ShownSecretsEntry], output: String)
    static let answer = Shape<Reported>(
        Member("entries") { $0.output == "-" ? $0.entries : nil }, Member("count") { $0.entries.count },
        Member("output") { $0.output })

    @Argument("file", help: "The file to write, - for standard output.", completion: .file) var file: String

    @Option("--format", help: "json or csv.") var format: Format = .json

    @Flag("--protected", help: "Also export the entries that the PIN protects.") var protected = false

    @OptionGroup var replacing: OutputOptions
    @OptionGroup var pin: PINOptions

    /// The forms of the file.
    enum Format: String, CaseIterable, ExpressibleByArgument {
        case json, csv
    }

    func run(in run: Run) async throws -> Outcome<Reported> {
        let output = try FileOutput(file, isText: true, isSecret: true, force: replacing.force, run)
        let service = try await run.openSecrets()
        let secret = protected ? try await run.secretsPIN(pin, of: service, to: "export the entries") : nil
        let entries: [SecretsEntry]
        if let secret {
            entries = try await run.touching("list the protected entries") { try await service.entries(pin: secret) }
        } else {
            entries = try await service.entries()
        }
        var exported: [ShownSecretsEntry] = []
        for entry in entries {
            let found = FoundSecretsEntry(entry, pin: entry.isProtected == true ? secret : nil)
            let content = try await found.touching("read '\(found.text)'", run) {
                try await service.content(of: entry.name, pin: found.pin)
            }
            exported.append(ShownSecretsEntry(content: content, kind: entry.kind))
        }
        var outcome = try output.put(
            Array(text(exported).utf8), of: (entries: exported, output: file),
            "\(exported.count) entries written to \(file.printable)")
        let codes = entries.filter { $0.kind != .none }.count
        if codes > 0 {
            outcome.answer.warnings = [
                Warning(
                    "not-exported",
                    "keys never reveal secrets of codes: those of \(codes) \(codes == 1 ? "entry" : "entries") are not exported"
                )
            ]
        }
        return outcome
    }

    private func text(_ entries: [ShownSecretsEntry]) -> String {
        switch format {
        case .json:
            var object = JSONValue.Object()
            object["entries"] = .array(entries.map(\.json))
            return JSONValue.object(object).text + "\n"
        case .csv:
            let rows = entries.map { entry in
                let record = entry.content.record
                let fields = [record.login, record.password?.shown, record.metadata?.shown]
                return [entry.content.name.text] + fields.map { $0 ?? "" }
            }
            return ([["name", "login", "password", "metadata"]] + rows).map { row in
                row.map(Self.quoted).joined(separator: ",") + "\r\n"
            }.joined()
        }
    }

    /// A field of a table (RFC 4180 §2).
    private static func quoted(_ field: String) -> String {
        "\"" + field.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\"") + "\""
    }
}
