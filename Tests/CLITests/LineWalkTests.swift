// SPDX-License-Identifier: Apache-2.0

import Arguments
import Testing
import YKTestSupport

@testable import TerminalIO
@testable import Verbs
@testable import ykit

/// How a line becomes a verb. What is wrong with others, in words, is in scripts/usage.txt.
@Suite struct LineWalkTests {
    private static var parser: CommandLineParser {
        CommandLineParser(
            root: Commands.root, global: GlobalOptions.self,
            alias: { $0 == "codes" ? ["--plan", "oath", "calculate"] : nil },
            exists: { $0 == "state" })
    }

    static func words(_ line: String) -> [String] { line.split(separator: " ").map(String.init) }

    private static func request(_ line: String) throws -> CommandLineParser.Request {
        try parser.request(parser.walk(words(line)))
    }

    /// What a verb knows after its line was read, besides its defaults.
    private static func values(_ line: String) throws -> [String] {
        guard case .verb(let read) = try request(line) else { return ["no verb"] }
        return read.declarations.all.filter(\.isGiven).map { declaration in
            "\(declaration.name) \(declaration.value.map { "\($0)" } ?? "")"
        }.sorted()
    }

    private static func verb(_ line: String) throws -> String {
        guard case .verb = try request(line) else { return "no verb" }
        return try parser.walk(words(line)).path.last ?? ""
    }

    @Test func namesAreDistinctWordsOfTheirForm() {
        let verbs = Commands.root.tree(hasHidden: true).map(\.command).filter { $0.isVerb }
        #expect(verbs.count > 200)
        for verb in verbs {
            let own = Declarations.of(verb).flatMap(\.words)
            expect(Set(own).count, is: own.count, "\(verb)")
            #expect(Set(own).isDisjoint(with: ["--help", "-h", "--version"]), "\(verb)")
            #expect(own.allSatisfy { $0.wholeMatch(of: /--[a-z0-9]+(-[a-z0-9]+)*|-[A-Za-z0-9]/) != nil }, "\(verb)")
        }
    }

    @Test(
        "global options stand anywhere, and the state file of --virtual may be left out",
        arguments: [
            ("oath list", "oath list"), ("--json oath list", "oath list --json"),
            ("oath --json list --long", "oath list --long --json"),
            ("--replay f --replay-mode lookup oath list", "oath list --replay f --replay-mode lookup"),
            ("--replay=f oath list", "oath list --replay=f"),
            ("--virtual oath list", "oath list --virtual=:memory:"), ("--virtual k oath list", "oath list --virtual=k"),
            ("--virtual --json oath list", "oath list --virtual=:memory: --json"),
            ("--virtual codes", "oath calculate --plan --virtual=:memory:"),
            ("oath --virtual list", "oath list --virtual=:memory:"),
            ("oath list --virtual", "oath list --virtual=:memory:"),
            ("oath calculate --virtual query", "oath calculate query --virtual=:memory:"),
            ("oath calculate --virtual ./state query", "oath calculate query --virtual=./state"),
            ("oath calculate --virtual state q", "oath calculate q --virtual=state"),
            ("oath add x --device 1 --device 2", "oath add x --device 1 --also-device 2"),
            ("--device=1 oath add x --device=2", "oath add x --device=1 --also-device=2"),
            ("codes x", "oath calculate --plan x"), ("-q codes x --json", "oath calculate --plan x --quiet --json"),
            ("virtual serve --vpcd", "virtual serve --vpcd 127.0.0.1:35963"),
            ("virtual serve --vpcd --nfc", "virtual serve --vpcd 127.0.0.1:35963 --nfc"),
            ("oath calculate -sc x", "oath calculate --single --clipboard x"),
            ("oath calculate -sp x y", "oath calculate --single --password x y"),
            ("config usb --no-touch-eject --remote-wakeup", "config usb --remote-wakeup --no-touch-eject"),
            ("oath calculate --at -5", "oath calculate --at=-5"), ("fido info --path x", "fido2 info --path=x"),
            ("oath list --link usb --link hid", "oath list --link hid"),
            ("oath list --json --json", "oath list --json"), ("oath calculate -p=x", "oath calculate --password x"),
            ("apdu -a oath a1 a4:00", "apdu --app=oath -- a1 a4:00"),
        ])
    func meansTheSame(_ line: String, _ other: String) throws {
        try expect(Self.values(line), is: Self.values(other))
        try expect(Self.verb(line), is: Self.verb(other))
    }

    @Test(arguments: [
        ("oath calculate -- --json", "query --json"), ("oath uri -- -", "uri -"),
        ("config usb --no-touch-eject", "touch-eject false"), ("config usb --touch-eject", "touch-eject true"),
        ("otp static 1 --generate --no-enter", "enter false"),
        (
            "fido2 assert --rp example.com --challenge -Ab_ --credential --c0 --credential -d",
            #"credential ["--c0", "-d"]"#
        ),
        ("fido2 register --rp example.com --user me --challenge --json", "challenge --json"),
        ("oath import a b -", #"files ["a", "b", "-"]"#),
        ("u2f check --app x -AbCdEfGhIjKlMnOpQrStUv", "key-handle -AbCdEfGhIjKlMnOpQrStUv"),
        ("u2f check --AbCdEfGhIjKlMnOpQrStUv --app x", "key-handle --AbCdEfGhIjKlMnOpQrStUv"),
        ("u2f authenticate -_abcdefghijklmnopqrstuv --app x --no-touch", "key-handle -_abcdefghijklmnopqrstuv"),
        ("fido2 credentials update --user you -0bcdefghijklmnopqrstuv", "credential -0bcdefghijklmnopqrstuv"),
        ("2fa trust rm alice -QhCdEfGhIjKlMnOpQr_stuv --force", "device -QhCdEfGhIjKlMnOpQr_stuv"),
        ("ssh delete -0hcdefghijklmnopqrstuv --force", "credential -0hcdefghijklmnopqrstuv"),
    ])
    func knows(_ line: String, _ value: String) throws {
        let values = try Self.values(line).map { $0.replacing(/Optional\("?(.*?)"?\)/) { $0.1 } }
        #expect(values.contains(value), "\(values)")
    }

    @Test(arguments: [
        "", "help", "oath", "oath --help", "oath list -h", "oath list --bogus --help", "oath delete -fh",
        "oath help list",
        "help oath list", "oath add x --issuer --help", "--json fido2 pin --help",
    ])
    func asksForHelp(_ line: String) throws {
        guard case .help = try Self.request(line) else {
            Issue.record("\(line)")
            return
        }
    }

    @Test(arguments: ["--version", "oath list --version", "--json --version", "nonsense --version"])
    func asksForTheVersion(_ line: String) throws {
        guard case .version = try Self.request(line) else {
            Issue.record("\(line)")
            return
        }
    }

    @Test(arguments: [
        ("nonsense", "there is no command 'nonsense'"), ("oath nonsense", "oath has no command 'nonsense'"),
        ("help oath lsit", "oath has no command 'lsit'; did you mean 'list'?"),
        ("--jsno oath list", "unknown option '--jsno'; did you mean '--json'?"),
        ("oath --vitrual list", "unknown option '--vitrual'; did you mean '--virtual'?"),
        ("-v", "unknown option '-v'; did you mean '--version'?"), ("--json", "a command is missing"),
        ("--device", "a command is missing; --device needs a value"),
        ("--device oath", "a command is missing; --device took 'oath' as its value"),
        ("oath list --nonsense=secret", "unknown option '--nonsense'"), ("oath calculate -cx", "unknown option '-x'"),
        ("oath delete -Qh_2 --force", "unknown option '-Q'"), ("oath delete -fQh", "unknown option '-Q'"),
        ("2fa trust rm alice -abch", "unknown option '-a'"),
        ("oath delete me -Phush", "unknown option '-P'; here it is --pin-stdin, --pin-fd or YKIT_PIN"),
        ("oath delete -QhCdEfGhIjKlMnOpQr_stuv", "unknown option '-Q'"),
        ("oath calculate -pxyz", "a space is missing after -p"),
        ("oath list --device", "missing value for '--device <serial>'"),
        ("oath list --device --json", "missing value for '--device <serial>'"),
        ("oath list --device=", "missing value for '--device <serial>'"),
        ("oath list --json=yes", "the option '--json' does not take any value, but 'yes' was specified"),
        (
            "oath list --timeout long",
            "the value 'long' is invalid for '--timeout <seconds>': expected more than 0 and at most 86400 seconds"
        ),
        ("oath delete", "missing expected argument '<query>'"),
        ("clear-clipboard", "missing expected argument '--after <after>'"),
        ("--reader x clear-clipboard --after 3", "--reader has no effect on this verb"),
        ("oath list too many", "oath list takes no argument"),
        ("oath add me --digits 9", "a code must have 6, 7 or 8 digits"),
        ("oath calculate --no-json", "unknown option '--no-json'"), ("oath list -=x", "unknown option '-'"),
    ])
    func isRefused(_ line: String, _ message: String) {
        let error = #expect(throws: ParseError.self) { _ = try Self.request(line) }
        let explanation = error?.explanation
        let said = explanation.map { message.contains(";") ? $0.message : String($0.message.prefix { $0 != ";" }) }
        expect(said, is: message)
        expect(explanation.map { "\($0.message) \($0.hint ?? "")" }?.contains("xyz"), is: false)
        expect(explanation.map { "\($0.message) \($0.hint ?? "")" }?.contains("ush"), is: false)
    }

    @Test func aDashAndOtherWordsAreNoBytes() {
        for word in [
            "-short", "--authenticator-attachment", "-hhhhhhhhhhhhhhhhhhhhhhhhhhh", "--json=AbCdEfGhIjKlMnOpQrStUv",
        ] {
            #expect(!LineWalk.isBytes(word))
            expect((try? Self.values("u2f check --app x \(word)")) ?? ["no verb"], is: ["no verb"])
        }
    }

    @Test(arguments: [
        ("--device" as Names, "device"), (["-f", "--force"] as Names, "force"), ("-v" as Names, "v"),
        (["--rp-id", "-i"] as Names, "rp-id"),
    ])
    func aNameWithoutDashes(_ names: Names, _ plain: String) {
        expect(names.plain, is: plain)
    }
}
