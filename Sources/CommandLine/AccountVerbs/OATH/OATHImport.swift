// SPDX-License-Identifier: Apache-2.0

import Applications
import Arguments
import TerminalIO
package import Verbs
import YKCrypto
import YKImport
import YKKeys
import YKOATH
import YKTransport
import YKWire

/// An account of a file.
struct ImportedAccount: Report {
    let id: OATHAccountID?
    let origin: String
    let error: Explanation?

    static let members: [Member<ImportedAccount>] = [
        Member("id", "null if it cannot be read") { $0.id?.text },
        Member("origin", "where it was found") { $0.origin },
        Member("added") { $0.error == nil },
        Member("error") { $0.error },
    ]
}

/// Imports accounts from files.
struct OATHImport: Verb {
    static let about = About(
        "Add accounts from files, QR codes and exports.",
        discussion: """
            A file holds otpauth:// or otpauth-migration:// lines, a picture (PNG, JPEG) with QR codes, a PSKC key \
            container, the export of another authenticator, or a table (CSV) of any program: 'ykit help formats' lists \
            them. '-' is standard input, as in: grim -g "$(slurp)" - | ykit oath import -
            Every account is listed with its result; --plan lists them and changes nothing.
            """,
        examples: [
            Example("ykit oath import qr.png", "Add the account in a picture of a QR code."),
            Example("ykit oath import export.txt --touch"),
        ])
    static let answer = Shape<[ImportedAccount]>(
        Member("accounts") { $0 }, Member("addedCount") { $0.count { $0.error == nil } },
        Member("refusedCount") { $0.count { $0.error != nil } })

    /// An account, or why it is invalid.
    private struct Item {
        var origin: String
        var account: Result<NewOATHAccount, Explanation>
        /// The account's identifier on a key; `nil` if the account is invalid.
        var id: OATHAccountID?
        var part: MigrationPart?
        /// The fields that no key can store.
        var omitted: [String]
        /// The parameters that were ignored.
        var ignored: [String]

        init(_ item: ImportSource.Item, in name: String) {
            origin = item.origin.words(in: name)
            account = item.account.mapError { Explanation($0) }
            id = (try? item.account.get())?.id
            (part, omitted, ignored) = (item.part, item.omitted, item.misnamed.map(OATHUri.words))
        }

        /// Notes about the fields that a key cannot store and that remain only in the file, and about ignored parameters.
        var notes: [Warning] {
            guard let id, case .success = account else { return [] }
            let name = "'\(id.text.printable)'"
            let kept = "a key stores only the secret for the codes of \(name): keep the file for "
            return (omitted.isEmpty ? [] : [Warning("not-stored", kept + omitted.listed())])
                + ignored.map { Warning("ignored", "\(name): \($0)") }
        }
    }

    @Argument("files", help: "Files, or -.", completion: .input) var files: [String]

    @Flag(["--touch", "-t"], help: "Require a touch for each code.") var touch = false

    @Flag(["--yes", "-y"], help: "Do not ask for confirmation; nothing is replaced or deleted.") var yes = false

    @Flag(["--force", "-f"], help: "Overwrite accounts with the same name.") var force = false

    @Option("--column", help: "The column of a table with the otpauth URIs or secrets: its name or number.")
    var column: String?

    // Hidden: the same as --file-password-fd.
    @Option("--file-key-fd <n>") var fileKeyFd: Int32?

    @OptionGroup var file: FilePasswordOptions
    @OptionGroup var password: PasswordOptions

    func check() throws {
        if files.isEmpty { throw UsageError("give a file, or - for standard input") }
    }

    func run(in run: Run) async throws -> Outcome<[ImportedAccount]> {
        var items: [Item] = []
        var notes: [Warning] = []
        for file in files { items += try self.items(of: file, run) { notes.append($0) } }
        notes += Self.mergeRepeated(&items)
        let good = items.count { if case .success = $0.account { true } else { false } }
        let gaps = MigrationPart.gaps(among: items.compactMap(\.part)).map(\.explanation)
        notes += items.flatMap(\.notes)
        run.describe(warnings: gaps.map { Warning($0) } + notes, [heading(items, good)] + list(items))
        if good > 0, !yes, !force { try confirm(items, good, gaps.map(\.message) + notes.map(\.message), run) }
        let service = try await run.oath(password)
        var outcome = try await write(items, AccountWriter(service: service), run.terminal)
        outcome.answer.warnings += notes
        for gap in gaps {
            if outcome.answer.failure == nil {
                outcome.answer.failure = gap
            } else {
                outcome.answer.warnings.append(Warning(gap))
            }
        }
        return outcome
    }

    /// Refuses accounts with the name of an earlier one, which they would overwrite on the key, and removes those that
    /// are equal to it.
    ///
    /// - Returns: What was removed.
    private static func mergeRepeated(_ items: inout [Item]) -> [Warning] {
        var first: [[UInt8]: (NewOATHAccount, origin: String)] = [:]
        var notes: [Warning] = []
        items = items.compactMap { item in
            guard case .success(let account) = item.account else { return item }
            guard let (earlier, origin) = first[account.id.rawName] else {
                first[account.id.rawName] = (account, item.origin)
                return item
            }
            if account.isSame(as: earlier) {
                notes.append(
                    Warning(
                        "repeated",
                        "'\(account.id.text.printable)' occurs twice with the same secret, and is added once"))
                return nil
            }
            var item = item
            item.account = .failure(Explanation(Concerning(.entry(origin), OATHError.writtenBefore(account.id))))
            return item
        }
        return notes
    }

    /// Reads the accounts of a file.
    private func items(of file: String, _ run: Run, noting: (Warning) -> Void) throws -> [Item] {
        let (name, terminal) = (file == "-" ? "standard input" : file, run.terminal)
        let source = ImportSource(
            try Files.read(file), codes: terminal.qrReader, cancellation: run.environment.cancellation)
        do {
            return try source.items(
                guessing: fileKeyFd != nil || self.file.source.isGiven(terminal), column: column,
                choosing: { columns in
                    let failure = Concerning(.file(name), ImportError.export(.needsColumn(columns)))
                    let lines = columns.map { "\($0.title.printable): \($0.contents)" }
                    let question = "which column of \(name.printable) has the accounts?"
                    return columns[try run.choose(question, among: lines, orElse: failure)]
                },
                unlocking: { try fileKey($0, terminal) },
                password: { format in
                    try filePassword("password of the \(format.name) export \(name.printable)", terminal)
                },
                noting: { noting(Warning("file", $0.words(in: name.printable))) }
            ).map { Item($0, in: name) }
        } catch let error as ImportError { throw Concerning(.file(name), error) }
    }

    private func confirm(_ items: [Item], _ good: Int, _ notes: [String], _ run: Run) throws {
        try run.terminal.show(list(items) + notes, orElse: "answer with --yes")
        try Agreement().ask("add \(good) of \(items.count) accounts?", in: run)
    }

    private func heading(_ items: [Item], _ good: Int) -> String {
        "\(good) of \(items.count) accounts can be added:"
    }

    /// Lists the accounts that can be written, and why the others cannot.
    private func list(_ items: [Item]) -> [String] {
        items.map { item in
            switch item.account {
            case .success(let account): "  " + account.id.text.printable
            case .failure(let why): "  not \(Self.name(item)): \(why.message)"
            }
        }
    }

    /// Writes the valid accounts and lists all; stops if the key is removed or full.
    private func write(
        _ items: [Item], _ writer: AccountWriter, _ terminal: Terminal
    ) async throws -> Outcome<[ImportedAccount]> {
        var done: [ImportedAccount] = []
        var lines: [String] = []
        var end: Explanation?
        // On a slow key many accounts take a while, so a terminal shows the progress.
        let showsProgress = items.count > 8 && terminal.isErrorTerminal && !terminal.isQuiet
        defer { if showsProgress { terminal.draw("\r\u{1B}[K") } }
        for (number, item) in items.enumerated() {
            if showsProgress { terminal.draw("\radding \(number + 1) of \(items.count)") }
            var failure = end
            if failure == nil, let error = await self.failure(item, writer) {
                failure = Explanation(error)
                if Self.endsImport(error) { end = failure }
            }
            let id = Self.name(item)
            lines.append(
                failure.map { Style.red.around("refused '\(id)'") + ": \($0.message)" } ?? "added '\(id)'")
            done.append(ImportedAccount(id: item.id, origin: item.origin, error: failure))
        }
        var outcome = Outcome(done, lines)
        outcome.answer.failure = summary(done.compactMap(\.error), of: items.count)
        // The error for a single account names it and gives the reason.
        if let only = items.first, items.count == 1, let failure = outcome.answer.failure {
            outcome.answer.failure?.message = "'\(Self.name(only))' is refused: \(failure.message)"
            outcome.answer.lines = []
        }
        return outcome
    }

    /// The account's name, or its place in the file if it cannot be read.
    private static func name(_ item: Item) -> String {
        item.id?.text.printable ?? item.origin.printable
    }

    private func failure(_ item: Item, _ writer: AccountWriter) async -> (any Error)? {
        do {
            var account = try item.account.get()
            account.needsTouch = touch
            try await writer.write(account, force: force)
            return nil
        } catch {
            return error
        }
    }

    /// Whether no further account can be written.
    private static func endsImport(_ error: any Error) -> Bool {
        switch error as? OATHError {
        case .full?, .locked?, .wrongPassword?, .touchTimeout?, .notAuthentic?: return true
        case .unfinished(_, let cause)?: return endsImport(cause)
        default: break
        }
        return switch LinkError(causing: error) {
        case .removed, .busy, .reset, .timedOut, .cancelled, .replay: true
        default: false
        }
    }

    /// The error of the verb: the reason if there is one account; otherwise how many failed, since the lines state the
    /// reasons.
    private func summary(_ refused: [Explanation], of count: Int) -> Explanation? {
        guard var explanation = refused.first, count > 1 else { return refused.first }
        explanation.message = "\(refused.count) of \(count) accounts were not added"
        return explanation
    }

    private func fileKey(_ protection: PSKCProtection, _ terminal: Terminal) throws -> PSKCUnlocking? {
        switch protection {
        case .none: return nil
        case .passphrase:
            return .passphrase(SharedSecret(try filePassword("passphrase of the key container", terminal)))
        case .presharedKey(let name):
            let question = "pre-shared key\(name.map { " '\($0.printable)'" } ?? "") in hexadecimal"
            let secret = try filePassword(question, terminal)
            var text = secret.copyBytes()
            defer { Secret.wipe(&text) }
            guard var key = try? Hex.decode(String(decoding: text, as: UTF8.self)) else {
                throw Explanation.usage("the pre-shared key is not hexadecimal")
            }
            defer { Secret.wipe(&key) }
            return .presharedKey(SharedSecret(Secret(key)))
        }
    }

    private func filePassword(_ question: String, _ terminal: Terminal) throws -> Secret {
        if let fileKeyFd { return try SecretInput.line(from: fileKeyFd) }
        return try file.password(question, terminal)
    }
}

extension NewOATHAccount {
    /// Whether both give the same codes under the same name.
    fileprivate func isSame(as other: NewOATHAccount) -> Bool {
        id == other.id && secret.value == other.secret.value && algorithm == other.algorithm && digits == other.digits
            && counter == other.counter
    }
}

extension MigrationPart.Gap {
    /// Explains that QR codes of a Google Authenticator export are missing.
    var explanation: Explanation {
        let numbers = missing.map { "\($0)" }
        let listed = [numbers.dropLast().map { $0 }.listed(), numbers.last ?? ""].filter { !$0.isEmpty }
            .listed(by: " and ")
        return Explanation(
            "incomplete", .notFound,
            "the Google Authenticator export has \(count) QR codes, of which \(listed) "
                + (missing.count == 1 ? "is missing" : "are missing"),
            hint: "import the others too: ykit oath import FILE")
    }
}

extension ImportSource.Origin {
    /// The place in a file.
    func words(in name: String) -> String {
        switch self {
        case .whole: name
        case .entry(let number): "\(name), entry \(number)"
        case .key(let id): "\(name), key \(id.printable)"
        case .exported(let format, let number, let label):
            "\(format.name) export \(name), " + (label.isEmpty ? "entry \(number)" : "'\(label.printable)'")
        case .file(let file, let origin): origin.words(in: "\(name), \(file.printable)")
        }
    }
}

extension ImportSource.Note {
    /// What is not among the accounts of a file.
    func words(in name: String) -> String {
        switch self {
        case .otherFiles(let files):
            let shown = files.prefix(5).map { "'\($0.printable)'" }.listed()
            let more = files.count > 5 ? " and \(files.count - 5) more" : ""
            return "no accounts in these files of \(name): \(shown)\(more)"
        case .otherCode(let kind): return "skipped a QR code in \(name) that is not an account (\(kind.rawValue))"
        case .uncertainText(let text):
            return "a QR code in \(name) is not UTF-8, so check the name: \(text.printable)"
        }
    }
}

extension ImportFormats {
    /// All of them, in the order in which they are listed.
    package static func all() -> [Row] {
        let others: [Row] = [
            ("URIs", "lines of otpauth://", nil, nil),
            ("Google Authenticator", "otpauth-migration://, as text or picture", nil, "all QR codes of an export"),
            ("QR codes", "PNG, JPEG", nil, "light on dark too"),
            ("PSKC (RFC 6030)", "XML", "XML with a passphrase or a pre-shared key (AES-CBC, AES key wrapping)", nil),
        ]
        let exports = AuthenticatorExport.formats.sorted { $0.name.lowercased() < $1.name.lowercased() }
        return others + exports.map { ($0.name, $0.plain, $0.encrypted, $0.note) }
    }
}
