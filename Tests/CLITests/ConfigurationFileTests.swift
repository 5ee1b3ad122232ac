// SPDX-License-Identifier: Apache-2.0

import Arguments
import Testing
import YKInteraction
import YKKeys
import YKTestSupport
import YKUse
import YKWire

@testable import TerminalIO
@testable import Verbs

/// What the configuration file sets. Its mistakes in words are in scripts/configuration.txt.
@Suite struct ConfigurationFileTests {
    init() { _ = Commands.root }

    private static let variables = EnvironmentVariables { $0 == "HOME" ? "/home/me" : nil }

    private func file(_ text: String) throws -> ConfigurationFile {
        try ConfigurationFile(Array(text.utf8), path: "config", Self.variables)
    }

    /// The global options of a line, with those of a file and of variables.
    private func options(
        _ words: String = "", _ file: inout ConfigurationFile, _ variables: [String: String] = [:]
    ) throws -> GlobalOptions {
        let parser = CommandLineParser.ykit()
        let words = words.split(separator: " ").map(String.init) + ["oath", "list"]
        guard case .verb(let read) = try parser.request(try parser.walk(words)),
            let line = read.given
        else { throw UsageError("no verb") }
        try file.complete(line, EnvironmentVariables { variables[$0] })
        return line.global
    }

    @Test("every global option can be set, and no other name")
    func names() throws {
        let examples = [
            "color": "never", "keep-secrets": "no", "link": "hid", "log-level": "debug", "replay-mode": "strict",
            "scp": "11a,3", "scp-oce-ca": "ca,3", "timeout": "2", "device": "1", "reader": "x", "path": "1-2",
        ]
        for option in Declarations.of(GlobalOptions.self) {
            let value =
                examples[option.name] ?? (option.name.hasSuffix("-fd") ? "3" : option.takesValue ? "/file" : "yes")
            try expect(file("\(option.name) = \(value)").settings.count, is: 1, "\(option.name)")
        }
        #expect(throws: Explanation.self) { try file("force = yes") }
    }

    @Test("the line goes before variables, and variables before the file, which goes before NO_COLOR")
    func order() throws {
        var file = try file("link = usb\ntimeout = 5\nquiet = yes\ncolor = always\nscp = 03\n")
        let variables = ["YKIT_TIMEOUT": "9", "YKIT_LINK": "pcsc", "YKIT_SCP": "11b,2", "NO_COLOR": "1"]
        let options = try options("--link hid", &file, variables)
        #expect(options.link == .hid && options.timeout == 9 && options.quiet && options.color == .always)
        #expect(options.channel.scp?.kind == .b && options.channel.scp?.version == 2)
        expect(file.overridden, is: ["link": "--link", "timeout": "YKIT_TIMEOUT", "scp": "YKIT_SCP"])
    }

    @Test("what chooses a key is overridden as a whole", arguments: ["device = 1", "reader = x", "virtual = /k"])
    func choice(line: String) throws {
        var file = try file(line)
        let replayed = try options("--replay r", &file)
        #expect(replayed.device == nil && replayed.reader == nil && replayed.virtual == nil)
        let free = try options("", &file)
        let chosen = [free.device, free.reader, free.virtual].compactMap(\.self)
        expect(chosen, is: [String(line.split(separator: " ")[2])])
    }

    @Test("what belongs to an option that is not in use is not set")
    func companions() throws {
        var file = try file("replay-mode = lookup\nkeep-secrets = yes\nscp-ca = ~/ca\n")
        let without = try options("", &file)
        #expect(without.replayMode == nil && !without.keepSecrets && without.channel.scpCa == nil)
        let with = try options("--replay r --scp 11b", &file)
        #expect(with.replayMode == .lookup && with.channel.scpCa == "/home/me/ca")
    }

    @Test("aliases take words as a shell does")
    func aliases() throws {
        let file = try file("alias.x = oath add 'a b' --issuer \"c d\"")
        #expect(file[alias: "x"] == ["oath", "add", "a b", "--issuer", "c d"] && file[alias: "y"] == nil)
        var line = CompletionLine(words: ["x"], current: "--cou", names: RememberedNames())
        line.aliases = file.aliases
        expect(line.offers().words.map(\.word), is: ["--counter"])
        let first = CompletionLine(words: [], current: "x", names: RememberedNames(), aliases: file.aliases)
        expect(first.offers().words.map(\.word), is: ["x"])
    }

    @Test("bytes of any kind are read as a whole, or refused with the line of the mistake")
    func hostile() {
        var random = SystemRandomNumberGenerator()
        let pieces = [
            "alias.", "=", " ", "\n", "link", "\"", "\\", "#", "usb", "\u{0}", "é", "--virtual", "oath", "virtual",
            "\r",
            "\u{202E}", "'", "1e999", "~/", "json = yes\n",
        ]
        let whole = """
            # a comment
            link = usb
              timeout = 2.5
            strict=yes
            alias.mail = oath calculate 'A b' "c" --single
            scp-keys = ~/keys

            """
        check(Array(whole.utf8))
        for _ in 0..<1500 {
            var bytes = Array(whole.utf8)
            for _ in 0..<Int.random(in: 1...5, using: &random) {
                let start = Int.random(in: 0...bytes.count, using: &random)
                let end = min(bytes.count, start + Int.random(in: 0...9, using: &random))
                let piece = Array((pieces.randomElement(using: &random) ?? "").utf8)
                bytes.replaceSubrange(start..<end, with: Bool.random(using: &random) ? piece : [.random(in: 0...255)])
            }
            check(bytes)
            check((0..<20).map { _ in UInt8.random(in: 0...255, using: &random) })
            check((0..<12).flatMap { _ in Array((pieces.randomElement(using: &random) ?? "").utf8) })
        }
    }

    /// Checks that every line has had its effect, or that the error names a line of the file and cannot drive a terminal.
    private func check(_ bytes: [UInt8]) {
        let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        do throws(Explanation) {
            var file = try ConfigurationFile(bytes, path: "config", Self.variables)
            let entries = lines.map { String(decoding: $0, as: UTF8.self).trimmed }
                .filter { !$0.isEmpty && !$0.hasPrefix("#") }
            expect(file.settings.count + file.aliases.count, is: entries.count)
            #expect((try? options("", &file)) != nil)
            let summary = file.summary(showsValues: true)
            expect(summary, is: summary.printable)
        } catch {
            let number = Int(error.message.dropFirst("config:".count).prefix { $0.isNumber }) ?? 0
            #expect(error.code == "configuration" && error.exit == .usage && lines.indices.contains(number - 1))
            expect(error.message, is: error.message.printable)
        }
    }
}

/// When output is styled.
@Suite struct StyleTests {
    @Test func oneTerminalDecides() {
        func wanted(_ choice: ColorChoice?, _ isTerminal: Bool, _ variables: [String: String] = [:]) -> Bool {
            Style.isWanted(choice, isTerminal: isTerminal, EnvironmentVariables { variables[$0] })
        }
        #expect(wanted(nil, true) && !wanted(nil, false) && wanted(.auto, true))
        #expect(!wanted(nil, true, ["NO_COLOR": "1"]) && wanted(nil, true, ["NO_COLOR": ""]))
        #expect(!wanted(nil, true, ["TERM": "dumb"]) && wanted(.always, false, ["NO_COLOR": "1", "TERM": "dumb"]))
        #expect(!wanted(.never, true))
    }

    @Test func marksTakeNoColumnsAndForeignOnesAreVisible() {
        let bold = Style.bold.around("abc")
        #expect(bold.columns == 3 && bold.padded(to: 5).columns == 5)
        #expect(bold.shown(styled: true) == "\u{1B}[1mabc\u{1B}[0m" && bold.shown(styled: false) == "abc")
        expect((Style.bold.mark + "abc").printable, is: "\\u{fdd0}abc")
        expect(Style.red.around("abcdef").clipped(to: 4).shown(styled: true), is: "\u{1B}[31mabc…\u{1B}[0m")
    }
}
