// SPDX-License-Identifier: Apache-2.0

import Arguments
import Verbs
import YKCrypto
import YKHTTP
import YKSecurID
import YKTokenStore
import YKTransport
import YKWire

enum ExportPassword: SecretKind {
    static let name = SecretName("new-password", "password of the export", "YKIT_NEW_PASSWORD")
}

/// Exports a token for another app.
struct SecurIDExport: Verb {
    static let about = About(
        "export", "Write a token for another app, with its seed.",
        discussion: """
            Whoever reads the export has the token: give it a password and delete it afterwards. The word 'export' has to \
            be typed, or --force given, which also replaces an output file that exists.
            """, members: ["serial", "format", "text", "output"])

    @Argument("token", help: "Which token: its serial number, its nickname, or a part of one.") var token: String?

    @Option("--format", help: "url (the default), ctf (the bare string) or sdtid (a file in XML).")
    var format: ExportFormat = .url

    @Option("--scheme", help: "The scheme of the URL; http makes the Android form.") var scheme = "com.rsa.securid"

    @Option("--ctf-version <n>", help: "The version of the string, 3 or 4; not all apps read 4.") var ctfVersion = 3

    @Option("--new-device-id <id>", help: "Bind the export to this device.") var newDeviceId: String?

    @OptionGroup var exportPassword: SecretOptions<ExportPassword>

    @Flag("--ask-password", help: "Protect the export with a password that is asked for.") var askPassword = false

    @Flag("--qr", help: "Draw a QR code: on the terminal, or as PNG with --output.") var qr = false

    @Option(["--output <file>", "-o"], help: "Where the export goes.") var output = "-"

    @OptionGroup var confirmation: Confirmation
    @OptionGroup var path: StorePathOptions
    @OptionGroup var key: StoreKeyOptions

    /// The format of an export.
    enum ExportFormat: String, CaseIterable, ExpressibleByArgument {
        case url, ctf, sdtid
    }

    func check() throws {
        guard ctfVersion == 3 || ctfVersion == 4 else { throw UsageError("--ctf-version is 3 or 4") }
        try UsageError.check(standardInput: [exportPassword.isStandardInput, key.usesStandardInput])
        if qr, format == .sdtid { throw UsageError("a QR code holds a URL or a string, not a file") }
    }

    func answer(in world: World) async throws -> Answer {
        let store = try path.tokens(world)
        let record = try store.one(token, world)
        let target = try FileOutput(
            output, isText: !(qr && output != "-"), isSecret: true, force: confirmation.force, world)
        let drawing = qr ? try QRDrawing(isPicture: output != "-") : nil
        try confirmation.ask(
            typing: "export", "the export holds the seed of token \(record.name): whoever reads it has the token",
            in: world)
        let password = try newPassword(world)
        if password == nil { world.terminal.warn("the export has no password") }
        let storeKey = try await world.open(store.content, key, for: "open the token store")
        let text = try text(try record.token(storeKey), password, world)
        var answer = Answer("token \(record.serial) is in \(output)", [:])
        var bytes = text.value.copyBytes()
        defer { Secret.wipe(&bytes) }
        if let drawing {
            try target.put(try drawing.draw(bytes), &answer)
        } else {
            try target.put(format == .sdtid ? bytes : bytes + [0x0A], &answer)
        }
        answer.members["serial"] = .string(record.serial)
        answer.members["format"] = .string(format.rawValue)
        answer.members["text"] = output == "-" ? .string(String(decoding: bytes, as: UTF8.self)) : .null
        answer.members["output"] = .string(output)
        return answer
    }

    private func newPassword(_ world: World) throws -> SharedSecret? {
        let source = exportPassword.source
        if let given = try source.given(world.terminal) {
            guard !given.value.isEmpty else { throw Explanation.usage("an empty password protects nothing") }
            return given
        }
        guard askPassword else { return nil }
        return SharedSecret(try Prompt(orElse: source.hint).newSecret("password of the export"))
    }

    private func text(_ token: SecurIDToken, _ password: SharedSecret?, _ world: World) throws -> SharedSecret {
        var token = token
        let random = world.environment.random
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

/// Detects the format of a token text.
struct SecurIDDetect: Verb {
    static let uses: GlobalUse = []
    static let about = About(
        "detect", "Show what a text, link, file or picture contains, without importing it.",
        members: ["form", "scheme", "protected", "bound", "serials", "url"])

    @Argument("source", help: "The text or file, or - for standard input.", completion: .file) var source: String

    @Option("--scheme", help: "Accept links with this scheme only.") var scheme: String?

    func answer(in world: World) async throws -> Answer {
        let link = SecurIDLink(source)
        if let scheme, SecurIDLink(source, scheme: scheme) == nil {
            throw SecurIDError.format("not a link with the scheme '\(scheme.printable)'")
        }
        let input = try TokenSource.read(source, world)
        var answer = Answer([input.form], [:])
        answer.members["form"] = .string(input.form)
        answer.members["scheme"] = link.map { .string($0.scheme) } ?? .null
        answer.members["protected"] = input.isProtected.map(JSONValue.bool) ?? .null
        answer.members["bound"] = .bool(input.isBound)
        answer.members["serials"] = .array(input.serials.map(JSONValue.string))
        if case .ctkip(let link) = input { answer.members["url"] = .string(try HTTPURL(link.server).description) }
        answer.lines += input.serials.map { "  token \($0)" }
        if input.isProtected == true { answer.lines.append("  protected with a password") }
        if input.isBound { answer.lines.append("  bound to a device") }
        return answer
    }
}
