// SPDX-License-Identifier: Apache-2.0

import Arguments
import Testing
import YKTestSupport

@testable import TerminalIO
@testable import Verbs

/// What is offered at a TAB. The shells themselves are in Tests/Peers/completion.py.
@Suite struct CompletionTests {
    init() { _ = Commands.root }

    private static let names = RememberedNames(
        serials: ["123", "456"], readers: ["Yubico 00 00"], accounts: ["Acme:alice", "Acme:bob", "bad\nname"])

    private func offers(_ line: String) -> CompletionLine.Offers {
        let words = ShellWords.split(line)
        return CompletionLine(words: words.dropLast(), current: words.last ?? "", names: Self.names).offers()
    }

    private func words(_ line: String) -> [String] { offers(line).words.map(\.word) }

    @Test func verbsFollowGroupsAndGlobalOptions() {
        expect(words("oat"), is: ["oath"])
        #expect(words("oath ca") == ["calculate"] && words("--json --timeout 5 oath ca") == ["calculate"])
        #expect(words("--virtual oath ca") == ["calculate"] && words("--virtual k.json oath ca") == ["calculate"])
        #expect(words("--virtual=k.json oath ca") == ["calculate"] && words("oath cod") == ["code"])
        #expect(words("").contains("piv") && !words("").contains("clear-clipboard"))
        #expect(words("nonsense ") == [] && words("oath nonsense ") == [])
        #expect(words("help ex") == ["exit-codes"] && words("oath help ca") == ["calculate"])
    }

    @Test func optionsAreThoseOfTheVerb() {
        #expect(words("oath code --cl") == ["--clipboard"] && words("--rea") == ["--reader"])
        #expect(words("oath code --clipboard --cl") == [] && words("oath list --cl") == [])
        #expect(words("oath code -- --cl") == [] && words("oath code --he") == ["--help"])
    }

    @Test func valuesAreThoseOfTheOption() {
        #expect(words("--link us") == ["usb"] && words("--link=us") == ["--link=usb"])
        #expect(words("piv sign --hash sha5") == ["sha512"] && words("piv sign --slot f") == ["f9"])
        #expect(words("completion f") == ["fish"] && words("completion fish ") == [])
        #expect(offers("piv sign --output ").files == .files && offers("oath import x").files == .files)
        #expect(offers("--virtual ").files == .files && words("--virtual pi") == ["piv"])
        expect(offers("oath list "), is: .init())
    }

    @Test func aURIIsNotAnAccount() { expect(offers("oath uri "), is: .init()) }

    @Test func namesComeFromListsBefore() {
        #expect(words("--device 1") == ["123"] && words("--device=4") == ["--device=456"])
        expect(words("oath code --reader "), is: ["Yubico 00 00"])
        #expect(words("oath delete ") == ["Acme:alice", "Acme:bob"] && words("oath delete x ") == [])
    }

    @Test(arguments: [
        (["bash", "ykit oath code Acme:a", "a"], ["words", "alice"]),
        (["bash", "ykit oath code Acme:", ":"], ["words", "alice", "bob"]),
        (["bash", "ykit oath code \"Acme:b", "\"Acme:b"], ["words", "Acme:bob"]),
        (["bash", "ykit --link=us", "us"], ["words", "usb"]), (["bash", "ykit --link=", "="], ["words", "auto"]),
        (["fish", "oath", "delete", "Acme:b"], ["words", "Acme:bob\taccount"]), (["zsh"], ["words"]),
        (["bash"], []), (["tcsh", "x"], []), ([], []),
    ])
    func answersAShell(_ arguments: [String], _ lines: [String]) {
        #expect(Array(CompletionAnswer.lines(arguments, Self.names).prefix(max(lines.count, 1))).starts(with: lines))
    }

    @Test(arguments: [
        ("", [""]), ("a b", ["a", "b"]), ("a b ", ["a", "b", ""]), ("a\\ b", ["a b"]), ("'a b", ["a b"]),
        ("\"a \\\"b\" c", ["a \"b", "c"]), ("a\\", ["a"]),
    ])
    func takesLinesApartAsShellsDo(_ line: String, _ words: [String]) { expect(ShellWords.split(line), is: words) }
}
