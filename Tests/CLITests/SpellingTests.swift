// SPDX-License-Identifier: Apache-2.0

import Arguments
import Foundation
import Testing

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
        #expect(Spelling.nearest(word, among: words) == known)
    }

    @Test("Words like nothing", arguments: ["", "x", "xyzzy", "certificate", String(repeating: "list", count: 4000)])
    func unlike(word: String) {
        #expect(Spelling.nearest(word, among: ["list", "oath", "calculate", "doctor"]) == nil)
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
            #expect(Self.wrong(here) == nil, "\(entry.ykit)")
            let told = Self.wrong(entry.ykman.split(separator: " ").map(String.init))
            #expect(told?.message.hasSuffix("'ykit \(entry.ykit)'") == true, "\(entry.ykman)")
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
            #expect(Self.wrong(words) == nil, "\(words)")
        }
    }

    @Test("the longest command that fits, with either name of FIDO2")
    func longest() {
        #expect(YkmanEquivalents.command(["oath", "accounts", "code", "x"]) == "oath calculate")
        #expect(YkmanEquivalents.command(["oath", "accounts"]) == "oath list")
        #expect(YkmanEquivalents.command(["fido", "access", "change-pin"]) == "fido2 pin change")
        #expect(YkmanEquivalents.command(["oath", "list"]) == nil)
    }

    @Test("options, by the command that they belong to")
    func options() {
        #expect(YkmanEquivalents.option("--valid-days", of: ["piv", "certificates", "generate"]) == "--days")
        #expect(YkmanEquivalents.option("--valid-days", of: ["oath", "list"]) == nil)
        #expect(YkmanEquivalents.option("-P", of: ["fido2", "pin", "verify"])?.contains("YKIT_PIN") == true)
    }
}

@Suite("First screen and topics")
struct HelpTopicTests {
    @Test("thirty lines of eighty columns at most, and every group is on it")
    func firstScreen() {
        let all = Commands.root.about.subcommands.map { $0.about }
        let lines = FirstScreen.text.split(separator: "\n", omittingEmptySubsequences: false)
        #expect(lines.count <= 30)
        #expect(lines.allSatisfy { $0.count <= 80 })
        let shown = Set(FirstScreen.rows.flatMap(\.words))
        #expect(shown == Set(all.filter(\.shouldDisplay).map(\.name)))
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
        var read: Set<String> = []
        let files = try #require(FileManager.default.enumerator(at: root, includingPropertiesForKeys: nil))
        for case let file as URL in files where file.pathExtension == "swift" {
            let text = try String(contentsOf: file, encoding: .utf8)
            read.formUnion(text.matches(of: /"(YKIT_[A-Z0-9_]+)"/).map { String($0.1) })
        }
        #expect(read.subtracting(explained) == [])
        #expect(explained.subtracting(read) == ["NO_COLOR"])
    }
}
