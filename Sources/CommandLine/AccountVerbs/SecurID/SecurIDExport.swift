// SPDX-License-Identifier: Apache-2.0

import Applications
import Arguments
import TerminalIO
import Verbs
import YKCrypto
import YKHTTP
import YKSecurID
import YKTokenStore
import YKTransport

enum ExportPassword: SecretKind {
    static let name = SecretName("new-password", "password of the export", "YKIT_NEW_PASSWORD")
}

/// Exports a token for another app.
struct SecurIDExport: Verb {
    static let about = About(
        "Write a token for another app, with its seed.",
        discussion: """
            Anyone who can read the export can use the token: protect it with a password and delete it afterwards. You \
            must type the word 'export', or give --force, which also replaces an existing output file.
            """,
        examples: [Example("ykit securid export work --format sdtid --output work.sdtid")])
    typealias Reported = (serial: String, format: ExportFormat, text: String?, output: String)
    static let answer = Shape<Reported>(
        Member("serial") { $0.serial }, Member("format", "url, ctf or sdtid") { $0.format.rawValue },
        Member("text", "null if written to a file") { $0.text },
        Member("output", "the file, - for standard output") { $0.output })

    @Argument("token", help: "The token: its serial number, its nickname, or part of one.") var token: EntryQuery?

    @Option("--format", help: "url (the default), ctf (the bare string) or sdtid (an XML file).")
    var format: ExportFormat = .url

    @Option("--scheme", help: "The scheme of the URL; http makes the Android form.") var scheme = "com.rsa.securid"

    @Option("--ctf-version <n>", help: "The version of the string, 3 or 4; not all apps read 4.") var ctfVersion = 3

    @Option("--new-device-id <id>", help: "Bind the export to this device.") var newDeviceId: String?

    @OptionGroup var exportPassword: SecretOptions<ExportPassword>

    @Flag("--ask-password", help: "Protect the export with a password, for which ykit prompts.") var askPassword = false

    @Flag("--qr", help: "Draw a QR code: on the terminal, or as PNG with --output.") var qr = false

    @Option(["--output <file>", "-o"], help: "Where to write the export.") var output = "-"

    @OptionGroup var confirmation: Confirmation
    @OptionGroup var path: StorePathOptions
    @OptionGroup var key: StoreKeyOptions

    /// The format of an export.
    enum ExportFormat: String, CaseIterable, ExpressibleByArgument {
        case url, ctf, sdtid
    }

    func check() throws {
        guard ctfVersion == 3 || ctfVersion == 4 else { throw UsageError("--ctf-version must be 3 or 4") }
        if qr, format == .sdtid { throw UsageError("a QR code holds a URL or a string, not a file") }
    }

    func run(in run: Run) async throws -> Outcome<Reported> {
        let store = try path.tokens(run)
        let record = try store.one(token, run)
        let target = try FileOutput(
            output, isText: !(qr && output != "-"), isSecret: true, force: confirmation.force, run)
        let drawing = qr ? try QRDrawing(isPicture: output != "-", run.stage.programs) : nil
        try confirmation.ask(
            typing: "export",
            "the export contains the seed of token \(record.name): anyone who can read it can use the token",
            in: run)
        let password = try newPassword(run)
        if password == nil { run.terminal.warn("no-password", "the export has no password") }
        let storeKey = try await run.open(store.content, key, for: "open the token store")
        let text = try text(try record.token(storeKey), password, run)
        var bytes = text.value.copyBytes()
        defer { Secret.wipe(&bytes) }
        let shown = output == "-" ? String(decoding: bytes, as: UTF8.self) : nil
        var outcome = Outcome(
            (serial: record.serial, format: format, text: shown, output: output),
            "token \(record.serial) written to \(output)")
        if let drawing {
            try target.put(try drawing.draw(bytes), &outcome.answer)
        } else {
            try target.put(format == .sdtid ? bytes : bytes + [0x0A], &outcome.answer)
        }
        return outcome
    }

    private func newPassword(_ run: Run) throws -> SharedSecret? {
        let source = exportPassword.source
        if let given = try source.given(run.terminal) {
            guard !given.value.isEmpty else { throw Explanation.usage("an empty password protects nothing") }
            return given
        }
        guard askPassword else { return nil }
        return try run.terminal.secret("password of the export", isNew: true, orElse: source.hint)
    }

    private func text(_ token: SecurIDToken, _ password: SharedSecret?, _ run: Run) throws -> SharedSecret {
        var token = token
        let random = run.environment.random
        if format == .sdtid {
            token.deviceID = newDeviceId
            return try SDTIDBatch.text(token, password: password, random)
        }
        let ctf = try AlphanumericCTF.text(
            token, password: password, deviceID: newDeviceId, version: ctfVersion, random)
        guard format == .url else { return ctf }
        let string = String(decoding: ctf.value.copyBytes(), as: UTF8.self)
        return SharedSecret(Secret(utf8: SecurIDLink.text(ctf: string, scheme: scheme)))
    }
}

/// What a text, link, file or picture contains.
struct DetectedToken: Report {
    let input: SecurIDInput
    let scheme: String?
    let url: String?

    static let members: [Member<DetectedToken>] = [
        Member("form") { $0.input.form },
        Member("scheme", "of a link") { $0.scheme },
        Member("protected", "whether it has a password, null if unknown") { $0.input.isProtected },
        Member("bound", "whether it belongs to a device") { $0.input.isBound },
        Member("serials") { $0.input.serials },
        Member("url", "of the CT-KIP server") { $0.url },
    ]

    /// The lines.
    var lines: [String] {
        [input.form] + input.serials.map { "  token \($0)" }
            + (input.isProtected == true ? ["  protected with a password"] : [])
            + (input.isBound ? ["  bound to a device"] : [])
    }
}

/// Detects the format of a token text.
struct SecurIDDetect: Verb {
    static let uses: GlobalUse = []
    static let about = About(
        "Show what a text, link, file or picture contains, without importing it.",
        examples: [Example("ykit securid detect token.sdtid")])

    @Argument("source", help: "The text or file, or - for standard input.", completion: .input) var source: String

    @Option("--scheme", help: "Accept links with this scheme only.") var scheme: String?

    func run(in run: Run) async throws -> Outcome<DetectedToken> {
        let link = SecurIDLink(source)
        if let scheme, SecurIDLink(source, scheme: scheme) == nil {
            throw SecurIDError.format("not a link with the scheme '\(scheme.printable)'")
        }
        let input = try TokenSource.read(source, run)
        var server: HTTPURL?
        if case .ctkip(let link) = input { server = try HTTPURL(link.server) }
        let found = DetectedToken(input: input, scheme: link?.scheme, url: server?.description)
        return Outcome(found, found.lines)
    }
}
