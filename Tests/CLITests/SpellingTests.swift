// SPDX-License-Identifier: Apache-2.0

import Arguments
import Foundation
import Testing
import YKProtocols
import YKTestSupport

@testable import TerminalIO
@testable import Verbs
@testable import Words
@testable import ykit

@Suite("Spelling")
struct SpellingTests {
    @Test(
        "The word that was meant",
        arguments: [
            ("oaht", "oath"), ("calc", "calculate"), ("lsit", "list"), ("lits", "list"), ("dotcor", "doctor"),
            ("fdo2", "fido2"), ("deleet", "delete"),
        ])
    func meant(word: String, known: String) {
        let words = ["list", "oath", "calculate", "doctor", "fido2", "delete", "info"]
        expect(Spelling.nearest(word, among: words), is: known)
    }

    @Test("Words like nothing", arguments: ["", "x", "xyzzy", "certificate", String(repeating: "list", count: 4000)])
    func unlike(word: String) {
        expect(Spelling.nearest(word, among: ["list", "oath", "calculate", "doctor"]), is: nil)
    }
}

@Suite("What people who know ykman type")
struct YkmanWordsTests {
    init() { _ = Commands.root }

    /// What is said of a line with a word that is no command or option.
    private static func wrong(_ words: [String]) -> Explanation? {
        let parser = CommandLineParser.ykit()
        do {
            _ = try parser.request(parser.walk(words))
        } catch let error as ParseError {
            switch error.kind {
            case .unknownCommand, .unknownOption: return error.explanation
            default: return nil
            }
        } catch {
            Issue.record(error)
        }
        return nil
    }

    @Test("each command is one that ykit has, and is said where ykman's is not one")
    func commands() {
        for entry in YkmanEquivalents.commands {
            let here = entry.ykit.split(separator: " ").map(String.init).filter { !$0.hasPrefix("-") }
            expect(Self.wrong(here), is: nil, "\(entry.ykit)")
            let told = Self.wrong(entry.ykman.split(separator: " ").map(String.init))
            expect(told?.message.hasSuffix("'ykit \(entry.ykit)'"), is: true, "\(entry.ykman)")
        }
    }

    @Test("the article has each of them, and every command that it names is one of ykit's")
    func article() throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let article = root.appending(path: "Sources/ykit/ykit.docc/ComingFromOtherTools.md")
        let text = try String(contentsOf: article, encoding: .utf8)
        for entry in YkmanEquivalents.commands {
            let ykman = entry.ykman.replacing("fido2", with: "fido")
            #expect(text.contains("| `ykman \(ykman)` | `ykit \(entry.ykit)` |"), "\(ykman)")
        }
        for entry in YkmanEquivalents.options { #expect(text.contains("| `\(entry.ykman)` |"), "\(entry.ykman)") }
        for match in text.matches(of: /\| `ykit ([^`]+)` \|/) {
            let words = match.1.split(separator: " ").map(String.init)
            expect(Self.wrong(words), is: nil, "\(words)")
        }
    }

    @Test("an option that ykit has as well is no row")
    func options() {
        for entry in YkmanEquivalents.options where !entry.command.isEmpty {
            let verbs = Commands.root.listedVerbs.filter { $0.path.joined(separator: " ").hasPrefix(entry.command) }
            for (path, command) in verbs {
                let names = Declarations.of(command).filter { $0.help != nil }.flatMap(\.words)
                let isOther =
                    entry.ykit.hasPrefix("'ykit ") || entry.ykit.hasPrefix("--") && entry.ykit.contains(", ")
                #expect(isOther || !names.contains(entry.ykman), "\(entry.ykman) of \(path)")
            }
        }
    }

    @Test("the longest command that fits, with either name of FIDO2")
    func longest() {
        expect(YkmanEquivalents.command(["oath", "accounts", "code", "x"]), is: "oath calculate")
        expect(YkmanEquivalents.command(["oath", "accounts"]), is: "oath list")
        expect(YkmanEquivalents.command(["fido", "access", "change-pin"]), is: "fido2 pin change")
        expect(YkmanEquivalents.command(["oath", "list"]), is: nil)
    }

    @Test("options of ykman, by the command that they belong to")
    func optionsByCommand() {
        expect(YkmanEquivalents.option("--valid-days", of: ["piv", "certificates", "generate"]), is: "--days")
        expect(YkmanEquivalents.option("--valid-days", of: ["oath", "list"]), is: nil)
        expect(YkmanEquivalents.option("-P", of: ["fido2", "pin", "verify"])?.contains("YKIT_PIN"), is: true)
    }
}

@Suite("A word at the wrong place")
struct WrongPlaceTests {
    init() { _ = Commands.root }

    /// What people type, and what is among the commands that are named.
    private static let borrowed = [
        ("piv generate", "piv keys generate"), ("piv generate-key", "piv keys generate"),
        ("piv change-pin", "piv access change-pin"), ("piv unblock-pin", "piv access unblock-pin"),
        ("piv change-management-key", "piv access change-management-key"),
        ("piv import-certificate", "piv certificates import"), ("piv import-key", "piv keys import"),
        ("piv export-certificate", "piv certificates export"), ("piv status", "piv info"), ("piv list", "piv info"),
        ("piv csr", "piv certificates request"), ("fido2 set-pin", "fido2 pin set"),
        ("fido2 change-pin", "fido2 pin change"), ("fido2 list", "fido2 credentials list"),
        ("fido2 passkeys", "fido2 credentials"), ("fido2 passkeys list", "fido2 credentials list"),
        ("fido2 delete", "fido2 credentials delete"), ("passkeys", "fido2 credentials"),
        ("passkeys list", "fido2 credentials list"), ("totp", "oath"), ("totp list", "oath list"),
        ("pin", "fido2 pin"), ("pin", "piv access"), ("oath set-password", "oath access change"),
        ("oath remove", "oath delete"), ("oath rm", "oath delete"), ("oath show", "oath calculate"),
        ("oath get", "oath calculate"), ("openpgp change-pin", "openpgp access change-pin"),
        ("openpgp status", "openpgp info"), ("openpgp generate", "openpgp keys generate"),
        ("ssh keygen", "ssh generate"),
        ("gpg", "openpgp"), ("gpg info", "openpgp info"), ("config list", "config usb --list"),
        ("reset", "fido2 reset"),
        ("reset", "oath reset"), ("version", "--version"), ("status", "info"), ("calculate", "oath calculate"),
        ("add", "oath add"), ("hsmauth rm", "hsmauth delete"), ("ssh rm", "ssh delete"), ("devices", "list"),
        ("agent", "ssh agent"), ("luks enroll", "luks add"), ("udev", "udev-rules"), ("codes", "oath calculate"),
    ]

    @Test("each is found in the whole tree", arguments: borrowed)
    func found(typed: String, meant: String) {
        let explanation = Self.wrong(typed)
        expect(explanation?.message.contains("'ykit \(meant)'"), is: true, "\(explanation?.message ?? "accepted")")
        expect(explanation?.exit, is: .usage)
    }

    @Test("a word that means nothing is not guessed", arguments: ["bogus", "oath bogus", "piv keys xyzzy"])
    func unknown(typed: String) {
        expect(Self.wrong(typed)?.message.contains("did you mean"), is: false)
    }

    @Test("every synonym is a word that is no command, and means one that exists")
    func table() {
        for entry in CommandSynonyms.commands {
            for line in entry.ykit where !line.hasPrefix("-") {
                let words = line.split(separator: " ").map(String.init).filter { !$0.hasPrefix("-") }
                let known = Commands.root.tree(hasHidden: false).contains { $0.path == words }
                #expect(known, "\(line)")
            }
            for typed in entry.typed { #expect(Self.wrong(typed) != nil, "\(typed) is a command") }
        }
        let all = CommandSynonyms.commands.flatMap(\.typed)
        expect(Set(all).count, is: all.count)
    }

    private static func wrong(_ line: String) -> Explanation? {
        let parser = CommandLineParser.ykit()
        do {
            _ = try parser.request(parser.walk(line.split(separator: " ").map(String.init)))
        } catch let error as ParseError {
            if case .unknownCommand = error.kind { return error.explanation }
        } catch { Issue.record(error) }
        return nil
    }
}

@Suite("First screen and topics")
struct HelpTopicTests {
    init() { _ = Commands.root }

    @Test("thirty lines of eighty columns at most, and every group is on it")
    func firstScreen() {
        let all = Commands.root.about.subcommands
        let lines = FirstScreen.text.split(separator: "\n", omittingEmptySubsequences: false)
        #expect(lines.count <= 30)
        #expect(lines.allSatisfy { $0.count <= 80 })
        let shown = Set(FirstScreen.rows.flatMap(\.words))
        expect(shown, is: Set(all.filter(\.about.shouldDisplay).map(\.name)))
    }

    @Test("each topic fits terminals of 40 to 120 columns", arguments: HelpTopic.allCases)
    func topics(topic: HelpTopic) {
        #expect(topic.text(columns: 80).split(separator: "\n").allSatisfy { $0.count <= 80 })
        #expect(topic.text(columns: 40).count > 100)
    }

    @Test("every variable that ykit reads is explained")
    func variables() throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appending(path: "Sources")
        let explained = Set(HelpTopic.variables.flatMap(\.names))
        var read = Set(CredentialKind.pins.map(\.variable))
        let files = try #require(FileManager.default.enumerator(at: root, includingPropertiesForKeys: nil))
        for case let file as URL in files where file.pathExtension == "swift" {
            let text = try String(contentsOf: file, encoding: .utf8)
            read.formUnion(text.matches(of: /"(YKIT_[A-Z0-9_]+)"/).map { String($0.1) })
        }
        expect(read.subtracting(explained), is: [])
        expect(explained.subtracting(read), is: ["NO_COLOR"])
    }
}
