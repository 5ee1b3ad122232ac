// SPDX-License-Identifier: Apache-2.0

import Arguments
import Foundation
import Testing
import YKTestSupport

@testable import TerminalIO
@testable import Verbs
@testable import ykit

/// Types the examples of help. Each is read as a line of the program, and each that needs no server, person, desktop or
/// second key is run on a virtual key, in a copy of the folder that fixtures/examples.sh prepares.
@Suite struct HelpExampleTests {
    /// An example, and the verb or group whose help shows it.
    struct Shown {
        let path: String
        let command: any ParsableCommand.Type
        let line: String

        /// The words behind `ykit`, without what belongs to the shell.
        var words: [String]? {
            guard let start = line.range(of: "ykit ") else { return nil }
            var words = [""]
            var quote: Character?
            for character in line[start.upperBound...] {
                if character == quote {
                    quote = nil
                } else if quote == nil, "\"'".contains(character) {
                    quote = character
                } else if quote == nil, ")|<>".contains(character) {
                    break
                } else if quote == nil, character == " " {
                    words.append("")
                } else {
                    words[words.count - 1].append(character)
                }
            }
            return words.filter { !$0.isEmpty }
        }
    }

    /// The key on which the examples that begin so are run; the last one counts. Others run on key.json.
    static let keys: [(prefix: String, key: String)] = [
        ("ykit fido2 pin set", "fresh.json"),
        ("ykit fido2 fingerprints", "sensor.json"),
        ("ykit fido2 config complex-pin", "strict.json"),
        ("ykit fido2 config long-touch", "5.8.json"),
        ("ykit fido2 sign-key", "5.8.json"),
        ("ykit u2f pin", "fips-pin.json"),
        ("ykit u2f pin set", "fips.json"),
        ("ykit u2f reset", "fips.json"),
        ("ykit oath access remember", "locked.json"),
        ("ykit hsmauth change-password", "5.8.json"),
        ("ykit secrets", "nitrokey.json"),
        ("ykit secrets pin set", "nitrokey-new.json"),
        ("ykit --scp 03 sd", "channel.json"),
        ("ykit sd", "channel.json"),
        ("ykit config mode", "neo.json"),
        ("ykit config reset", "bio.json"),
        ("ykit arculus", "card.json"),
        ("ykit securid", "fresh.json"),
        ("ykit approve", "fresh.json"),
    ]

    /// The examples that begin so are only read, for this reason.
    static let notRun: [(prefix: String, reason: String)] = [
        ("ykit 2fa", "needs a privacyIDEA server"),
        ("ykit list --watch", "runs until ^C"),
        ("ykit --device 12345678 setup", "asks a person at each step"),
        ("ykit compare 12345678", "needs two keys"),
        ("ykit compare first.json 23456789", "needs a key and the network"),
        ("ykit luks", "needs a volume"),
        ("sudo ykit luks", "needs a volume"),
        ("ykit info --metadata", "needs the list of the FIDO Alliance"),
        ("ykit fido2 try", "waits for a browser"),
        ("ykit oath add Intranet:alice --generate --qr", "draws on the terminal"),
        ("ykit piv attest 9a", "Yubico's roots do not vouch for a virtual key"),
        ("ykit attest verify", "Yubico's roots do not vouch for a virtual key"),
        ("ykit openpgp attest", "Yubico's roots do not vouch for a virtual key"),
        ("ykit otp static 2 --generate", "prints the secret on the terminal"),
        ("ykit otp chalresp 2 --generate", "prints the secret on the terminal"),
        ("eval \"$(ykit ssh agent)\"", "stays in the background"),
        ("ykit ssh agent", "runs until ^C"),
        ("age --decrypt", "needs age"),
        ("ykit securid import --ctkip", "needs a CT-KIP server"),
        ("ykit securid watch", "runs until ^C"),
        ("ykit securid code work --clipboard", "needs a desktop"),
        ("ykit securid store add-key", "needs two keys"),
        ("ykit secrets code mail --clipboard", "needs a desktop"),
        ("ykit secrets show bank --field password --clipboard", "needs a desktop"),
        ("ykit arculus register", "needs a server"),
        ("ykit arculus authenticate", "needs a server"),
        ("sudo ykit bridge", "needs the kernel's uhid and a card"),
        ("sudo ykit --reader ACR122U bridge", "needs the kernel's uhid and a card"),
        ("ykit remote dev", "needs another machine"),
        ("sudo ykit guard", "needs the kernel's uhid"),
        ("ykit guard", "needs its system part"),
        ("ykit virtual serve", "needs pcscd"),
        ("sudo ykit virtual serve", "needs the kernel's uhid"),
        ("ykit --scp 03 sd keys set-allowlist", "needs the key of a CA on the security key"),
        ("ykit approve enroll", "needs a privacyIDEA server"),
        ("ykit approve list", "needs a privacyIDEA server"),
        ("ykit approve show", "needs a privacyIDEA server"),
        ("ykit approve yes", "needs a privacyIDEA server"),
        ("ykit approve no", "needs a privacyIDEA server"),
        ("ykit approve address", "needs a privacyIDEA server"),
        ("ykit approve logout", "needs a privacyIDEA server"),
        ("ykit approve sync", "needs a privacyIDEA server"),
        ("ykit approve migrate", "needs a privacyIDEA server"),
        ("ykit approve open", "needs a privacyIDEA server"),
        ("ykit approve watch", "runs until ^C"),
        ("ykit approve store add-key", "needs two keys"),
    ]

    private static func shown() -> [Shown] {
        Commands.root.tree(hasHidden: false).flatMap { path, command in
            command.about.examples().map {
                Shown(path: path.joined(separator: " "), command: command, line: $0.line)
            }
        }
    }

    @Test func eachVerbShowsOneToThree() {
        let shown = Self.shown().filter { $0.command.isVerb }
        let counts = Dictionary(grouping: shown, by: \.path).mapValues(\.count)
        expect(VerbTests.verbs().filter { !(1...3).contains(counts[$0] ?? 0) }, is: [])
    }

    @Test func eachIsALineOfItsVerbAndHoldsNoSecret() throws {
        let parser = CommandLineParser(
            root: Commands.root, global: GlobalOptions.self, exists: { FileManager.default.fileExists(atPath: $0) })
        for example in Self.shown() {
            #expect(example.line.count <= 79, "\(example.line)")
            guard let words = example.words else {
                #expect(Self.notRun.contains { example.line.hasPrefix($0.prefix) }, "\(example.line)")
                continue
            }
            let walk = try parser.walk(words)
            #expect(walk.path.joined(separator: " ").hasPrefix(example.path), "\(example.line)")
            #expect(throws: Never.self, "\(example.line)") {
                guard case .verb(let read) = try parser.request(walk) else { throw UsageError("no verb") }
                let open = read.declarations.all.filter { $0.isGiven && $0.help?.contains("Other users") == true }
                expect(open.map(\.name), is: [], "\(example.line)")
            }
        }
    }

    @Test func eachReasonNotToRunHasAnExample() {
        let lines = Self.shown().map(\.line)
        expect(Self.notRun.map(\.prefix).filter { prefix in !lines.contains { $0.hasPrefix(prefix) } }, is: [])
        expect(Self.keys.map(\.prefix).filter { prefix in !lines.contains { $0.hasPrefix(prefix) } }, is: [])
    }

    @Test func eachWorksAsTyped() async throws {
        let shell = try Shell()
        let prepared = try await shell.run(#"mkdir prepared && cd prepared && HOME=$PWD && . "$FIXTURES/examples.sh""#)
        #expect(prepared.output == "" && prepared.status == 0, "\(prepared.output)\(prepared.errors)")
        var count = 0
        for example in Self.shown() where example.command.isVerb {
            if Self.notRun.contains(where: { example.line.hasPrefix($0.prefix) }) { continue }
            let result = try await shell.run(Self.script(example))
            expect(result.status, is: 0, "\(example.line)\n\(result.output)\n\(result.errors)")
            count += 1
        }
        #expect(count > 200)
    }

    /// Runs an example in a copy of the prepared folder, and confirms what it would ask.
    private static func script(_ example: Shown) -> String {
        let key = keys.last { example.line.hasPrefix($0.prefix) }?.key ?? "key.json"
        let group = example.path.split(separator: " ")[0]
        let usesNone = ["capture", "virtual", "completion", "schema", "qr", "bridge"].contains(group)
        let names = Declarations.of(example.command).flatMap(\.words)
        let answers = ["--force", "--yes"].filter { names.contains($0) && !example.line.contains($0) }
        return """
            rm -rf run && cp -r prepared run && cd run && HOME=$PWD && eval "$(grep ^export "$FIXTURES/examples.sh")"
            ykit() { command ykit \(usesNone ? "" : "--virtual \(key)") "$@" \(answers.joined(separator: " ")); }
            \(example.line)
            """
    }
}
