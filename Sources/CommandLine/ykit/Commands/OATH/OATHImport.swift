// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import YKCrypto
import YKOATH
import YKWire

/// Writes accounts from files.
struct OATHImport: Verb {
    static let configuration = CommandConfiguration(
        commandName: "import", abstract: "Add accounts from files, QR codes and exports.",
        discussion: """
            A file holds otpauth:// or otpauth-migration:// lines, a picture (PNG, JPEG) with QR codes, or a PSKC key \
            container; '-' is standard input, as in: grim -g "$(slurp)" - | ykit oath import -
            Every account is listed with what became of it.
            """)
    static let members = ["accounts", "added", "refused"]

    @Argument(help: "Files, or -.", completion: .file())
    var files: [String]

    @Flag(name: .shortAndLong, help: "Ask for a touch before each code.")
    var touch = false

    @Flag(name: [.customShort("y"), .long], help: "Do not ask.")
    var yes = false

    @Flag(name: .shortAndLong, help: "Overwrite accounts of the same name.")
    var force = false

    @Option(
        help: ArgumentHelp(
            "Read the passphrase, or pre-shared key in hexadecimal, from this descriptor.", valueName: "n"))
    var fileKeyFd: Int32?

    @OptionGroup(title: "Password Options")
    var password: PasswordOptions

    @OptionGroup(title: "Global Options")
    var global: GlobalOptions

    func validate() throws {
        if files.isEmpty { throw ValidationError("name a file, or - for standard input") }
    }

    func answer(in world: World) async throws -> Answer {
        var items: [ImportSource.Item] = []
        for file in files {
            let name = file == "-" ? "standard input" : file
            items += try ImportSource(name: name, bytes: try Files.read(file)).items(unlocking: fileKey)
        }
        let good = items.count { if case .success = $0.account { true } else { false } }
        if good > 0, !yes, world.plan == nil { try confirm(items, good) }
        let service = try await world.oath(password)
        return try await write(items, AccountWriter(service: service, force: force))
    }

    private func confirm(_ items: [ImportSource.Item], _ good: Int) throws {
        let prompt = try Prompt(orElse: "answer with --yes")
        for item in items {
            if case .success(let account) = item.account { prompt.tell("  " + account.id.text.printable) }
        }
        try prompt.agree("add \(good) of \(items.count) accounts?")
    }

    /// Writes what can be written and lists everything; a key that is gone or full ends it.
    private func write(_ items: [ImportSource.Item], _ writer: AccountWriter) async throws -> Answer {
        var rows: [JSON] = []
        var answer = Answer()
        var refused: [Explanation] = []
        var end: Explanation?
        for item in items {
            var failure = end
            if failure == nil { failure = await self.failure(item, writer) }
            let id = (try? item.account.get())?.id.text.printable ?? item.origin.printable
            answer.lines.append(failure.map { "refused '\(id)': \($0.message)" } ?? "added '\(id)'")
            rows.append([
                "id": (try? item.account.get()).map { .string($0.id.text) } ?? .null, "origin": .string(item.origin),
                "added": .bool(failure == nil), "error": failure?.json ?? .null,
            ])
            if let failure { refused.append(failure) }
            if let failure, failure.endsImport { end = failure }
        }
        answer.members["accounts"] = .array(rows)
        answer.members["added"] = .int(Int64(items.count - refused.count))
        answer.members["refused"] = .int(Int64(refused.count))
        answer.failure = summary(refused, of: items.count)
        return answer
    }

    private func failure(_ item: ImportSource.Item, _ writer: AccountWriter) async -> Explanation? {
        do {
            var account = try item.account.get()
            account.needsTouch = touch
            try await writer.write(account)
            return nil
        } catch {
            return Explain.explain(error)
        }
    }

    private func summary(_ refused: [Explanation], of count: Int) -> Explanation? {
        guard let first = refused.first else { return nil }
        if count == 1 { return first }
        var explanation = first
        explanation.message = "\(refused.count) of \(count) accounts were not added; the first: \(first.message)"
        return explanation
    }

    private func fileKey(_ protection: PSKCProtection) throws -> PSKCUnlocking? {
        switch protection {
        case .none: return nil
        case .passphrase: return .passphrase(SharedSecret(try fileSecret("passphrase of the key container")))
        case .presharedKey(let name):
            let secret = try fileSecret("pre-shared key\(name.map { " '\($0.printable)'" } ?? "") in hexadecimal")
            var text = secret.copyBytes()
            defer { Secret.wipe(&text) }
            guard var key = try? Hex.decode(String(decoding: text, as: UTF8.self)) else {
                throw Explanation.usage("the pre-shared key is not hexadecimal")
            }
            defer { Secret.wipe(&key) }
            return .presharedKey(SharedSecret(Secret(key)))
        }
    }

    private func fileSecret(_ question: String) throws -> Secret {
        if let fileKeyFd { return try SecretInput.line(from: fileKeyFd) }
        return try Prompt(orElse: "give it with --file-key-fd N").secret(question)
    }
}

extension Explanation {
    /// Whether nothing more can be written after this.
    fileprivate var endsImport: Bool {
        code == "full" || [.removed, .busy, .timeOut, .interrupted, .replayMismatch, .authentication].contains(exit)
    }
}
