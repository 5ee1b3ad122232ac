// SPDX-License-Identifier: Apache-2.0

import Arguments
import Foundation
import Testing

@testable import ykit

@Suite struct LineReaderTests {
    /// A command as ArgumentParser describes it.
    private struct Described: Decodable {
        struct Argument: Decodable {
            struct Name: Decodable {
                let kind, name: String
                var word: String { (kind == "long" ? "--" : "-") + name }
            }
            let names: [Name]?
        }
        let commandName: String
        let subcommands: [Described]?
        let arguments: [Argument]?
    }

    /// ArgumentParser's description of all commands, which takes a fifth of the time of their helps.
    private static func described() throws -> Described {
        struct Description: Decodable { let command: Described }
        do {
            _ = try WholeParser.verb(["--experimental-dump-help"], from: Ykit.self, columns: 80)
        } catch .help(let text) {
            return try JSONDecoder().decode(Description.self, from: Data(text.utf8)).command
        }
        throw CocoaError(.coderReadCorrupt)
    }

    /// All verbs below a command, with the words that ArgumentParser knows as their options.
    private static func verbs(
        below command: any ParsableCommand.Type, _ described: Described
    ) throws -> [(verb: any ParsableCommand.Type, words: Set<String>)] {
        if command.isVerb {
            return [(command, Set((described.arguments ?? []).flatMap { ($0.names ?? []).map(\.word) }))]
        }
        return try command.about.subcommands.flatMap { below in
            try verbs(
                below: below, #require((described.subcommands ?? []).first { $0.commandName == below.about.name }))
        }
    }

    @Test func everyVerbIsReadByTheNamesThatArgumentParserKnows() throws {
        let verbs = try Self.verbs(below: Ykit.self, Self.described())
        #expect(verbs.count > 200)
        for (verb, words) in verbs {
            let own = Declarations.of(verb).flatMap(\.words)
            #expect(Set(own) == words.subtracting(["--help", "-h", "--version"]), "\(verb)")
            #expect(Set(own).count == own.count, "\(verb)")
            #expect(own.allSatisfy { $0.wholeMatch(of: /--[a-z0-9]+(-[a-z0-9]+)*|-[A-Za-z0-9]/) != nil }, "\(verb)")
        }
    }

    /// What a verb knows after its line was read.
    static func values(_ read: ReadVerb) -> [String] {
        read.declarations.all.map { "\($0.name) \($0.value ?? "unknown")" }
    }

    @Test(arguments: [
        "list", "info --json", "oath list --device 12 --timeout=2.5", "oath calculate", "oath calculate name -c --json",
        "oath add me --generate --digits 7 --period 60", "oath import a b - --strict", "oath uri -- -",
        "fido2 info --path /dev/hidraw0", "fido info --link hid --log-level traffic",
        "fido2 register --rp example.com --user me --resident --uv required --pin-stdin",
        "fido2 register --rp example.com --user me --algorithm es256 --algorithm eddsa",
        "fido2 assert --options - --format libfido2 --u2f", "fido2 pin set --new-pin-stdin",
        "clear-clipboard --after 3", "virtual serve --uhid --touch 20ms --fido 2.1 --wrong-fingers 2", "completion zsh",
        "fido2 assert --rp example.com --challenge -Ab_ --credential --c0 --credential -d --salt -e --uv required",
        "fido2 register --rp example.com --user me --challenge --json --user-id -a --exclude -b --cred-blob -c",
        "apdu -a oath a1 a4:00", "apdu --short -a oath", "oath list --long --replay-mode lookup --replay other",
    ])
    func aPlainLineMeansWhatItMeansToTheWholeParser(_ line: String) throws {
        let words = line.split(separator: " ").map(String.init)
        let whole = try? WholeParser.verb(words, from: Ykit.self, columns: 80)
        let quick = LineReader.verb(words, from: Ykit.self)
        guard let expected = whole, let quick else {
            Issue.record("\(line): \(whole == nil) \(quick == nil)")
            return
        }
        #expect(Self.values(quick) == Self.values(expected))
    }

    /// Words without a name that are bytes in base64url, as key handles and credentials are.
    @Test(arguments: [
        ("u2f check --app x -AbCdEfGhIjKlMnOpQrStUv", "-AbCdEfGhIjKlMnOpQrStUv"),
        ("u2f check --AbCdEfGhIjKlMnOpQrStUv --app x", "--AbCdEfGhIjKlMnOpQrStUv"),
        ("u2f authenticate -_abcdefghijklmnopqrstuv --app x --no-touch", "-_abcdefghijklmnopqrstuv"),
        ("fido2 credentials delete -0bcdefghijklmnopqrstuv --force", "-0bcdefghijklmnopqrstuv"),
        ("fido2 credentials update --user you -0bcdefghijklmnopqrstuv", "-0bcdefghijklmnopqrstuv"),
        ("fido2 large-blob set -0bcdefghijklmnopqrstuv -", "-0bcdefghijklmnopqrstuv"),
        ("2fa trust rm alice -QhCdEfGhIjKlMnOpQr_stuv --force", "-QhCdEfGhIjKlMnOpQr_stuv"),
        ("ssh delete -0hcdefghijklmnopqrstuv --force", "-0hcdefghijklmnopqrstuv"),
    ])
    func bytesMayBeginWithADash(_ line: String, _ bytes: String) throws {
        let words = line.split(separator: " ").map(String.init)
        let verb = try #require(LineReader.verb(words, from: Ykit.self))
        let values = Self.values(verb)
        #expect(values.contains { $0.hasSuffix(" \(bytes)") || $0.hasSuffix("(\"\(bytes)\")") }, "\(values)")
        let behind = words.filter { $0 != bytes && $0 != "-" } + ["--", bytes] + words.filter { $0 == "-" }
        let expected = try WholeParser.verb(behind, from: Ykit.self, columns: 80)
        #expect(values == Self.values(expected))
    }

    /// ArgumentParser finds `-h` in a word such as `-Qh_2`, prints the help, and the process ends with success.
    @Test(arguments: [
        ("oath delete -Qh_2 --force", "unknown option '-Q'"), ("oath delete -fQh", "unknown option '-Q'"),
        ("2fa trust rm alice -abch", "unknown option '-a'"),
        ("oath delete -QhCdEfGhIjKlMnOpQr_stuv", "unknown option '-Q'"),
        ("oath delete me -Phush", "unknown option '-P'; here it is"),
    ])
    func aDashAndAnHAreNoRequestForHelp(_ line: String, _ message: String) {
        let words = line.split(separator: " ").map(String.init)
        let wrong = Explain.strayDash(words, from: Ykit.self)
        #expect(wrong?.message.hasPrefix(message) == true, "\(String(describing: wrong))")
        #expect(wrong.map { "\($0.message) \($0.hint ?? "")".contains("ush") } == false)
    }

    @Test(arguments: [
        "oath delete -fh", "oath delete -h", "oath delete -- -Qh", "oath delete", "oath",
        "u2f register --app x --challenge -Qh_2",
        "fido2 assert --challenge -QhCdEfGhIjKlMnOpQr_stuv",
    ])
    func otherDashesAreLeftToTheParser(_ line: String) {
        #expect(Explain.strayDash(line.split(separator: " ").map(String.init), from: Ykit.self) == nil)
    }

    @Test func aDashAndOtherWordsAreNoBytes() {
        for word in [
            "-short", "--authenticator-attachment", "-hhhhhhhhhhhhhhhhhhhhhhhhhhh", "--json=AbCdEfGhIjKlMnOpQrStUv",
        ] {
            #expect(!LineReader.isBytes(word))
            #expect(LineReader.verb(["u2f", "check", "--app", "x", word], from: Ykit.self) == nil)
        }
        let handle = "-AbCdEfGhIjKlMnOpQrStUv"
        #expect(LineReader.verb(["oath", "delete", handle], from: Ykit.self) == nil)
        let explained = Explain.usage("Error: Unknown option '\(handle)'", of: ["u2f", "check", handle])
        #expect(explained.hint?.contains("-- \(handle)") == true)
    }

    @Test(arguments: [
        "", "oath", "nonsense", "oath nonsense", "oath list --nonsense", "oath list too many", "oath list --device",
        "oath list --device --json", "oath list --device=", "oath list --json=yes", "oath list --json --json",
        "oath list --timeout long", "oath delete", "oath add me --digits 9", "fido2 register --rp example.com",
        "apdu -aoath a1", "oath list --help", "oath list -h", "help oath list", "--version",
        "clear-clipboard", "oath calculate -cx",
    ])
    func anythingElseIsLeftToTheWholeParser(_ line: String) {
        #expect(LineReader.verb(line.split(separator: " ").map(String.init), from: Ykit.self) == nil)
    }

    @Test(arguments: [
        ("--device" as Names, "device"), (["-f", "--force"] as Names, "force"), ("-v" as Names, "v"),
        (["--rp-id", "-i"] as Names, "rp-id"),
    ])
    func aNameWithoutDashes(_ names: Names, _ plain: String) {
        #expect(names.plain == plain)
    }
}
