// SPDX-License-Identifier: Apache-2.0

import Testing
import YKCrypto
import YKTestSupport
import YKWire

@testable import YKSSH

/// Who may sign, as ssh-keygen (OpenSSH 9.2) decides; Tests/Peers/ssh-signers.py compares more with the program itself.
struct AllowedSignersTests {
    private func signature(by name: String = "ed25519", _ namespace: String = "file") throws -> SSHFileSignature {
        let bytes = SSHSignature.Evidence(flags: 1, counter: 1)
        let key = try Vectors.key(name)
        let signature = try SSHSignature(
            [UInt8](repeating: 1, count: 64), by: key, evidence: key.application == nil ? nil : bytes)
        return SSHFileSignature(publicKey: key, namespace: namespace, hash: .sha512, signature: signature)
    }

    private func check(
        _ line: String, _ identity: String = "me", _ namespace: String = "file", now: Int64 = 0
    ) throws -> AllowedSigners.Verdict {
        let key = try Vectors.key("ed25519").line(comment: "")
        let text = "# a comment\n\n\(line.replacing("KEY", with: key))\n"
        return AllowedSigners(Array(text.utf8)).check(try signature("ed25519", namespace), identity: identity, now: now)
    }

    private func signature(_ name: String, _ namespace: String) throws -> SSHFileSignature {
        try signature(by: name, namespace)
    }

    private func allows(
        _ line: String, _ identity: String = "me", _ namespace: String = "file", now: Int64 = 0
    ) throws -> Bool { try check(line, identity, namespace, now: now).isAllowed }

    @Test func principalsNamespacesAndTimesCount() throws {
        #expect(try allows("me@lab KEY", "me@lab") && !allows("me@lab KEY", "you@lab"))
        #expect(try allows("a@b,*@lab KEY and a comment", "you@lab") && allows("??@lab KEY", "me@lab"))
        #expect(try !allows("*,!me@lab KEY", "me@lab") && allows("*,!me@lab KEY", "you@lab"))
        #expect(try !allows("m*e*b KEY", "me@lac") && allows("m*e*b KEY", "me@lab"))
        #expect(
            try allows("\"me,you\" KEY", "you") && allows("  me KEY") && !allows("ME KEY") && !allows("me, KEY", "x"))
        let spaces = "me namespaces=\"git,file\" KEY"
        #expect(try allows(spaces) && !allows(spaces, "me", "other"))
        #expect(try allows("me NAMESPACES=\"fi*\" KEY") && !allows("me namespaces=\"\" KEY"))
        let times = "me valid-after=\"20200101Z\",valid-before=\"20300101120000Z\" KEY"
        #expect(try !allows(times, now: 1_577_836_799) && allows(times, now: 1_577_836_800))
        #expect(try allows(times, now: 1_893_499_200) && !allows(times, now: 1_893_499_201))
        #expect(try !allows("me cert-authority KEY"))
    }

    @Test("lines end at LF alone, words at spaces and tabs, and a zero byte ends a line, as in ssh-keygen")
    func endsOfLines() throws {
        for end in ["\r", "\u{0B}", "\u{0C}", "\u{85}", "\u{2028}", "\u{2029}"] {
            #expect(try !allows("# was:\(end)me KEY"))
        }
        #expect(try allows("me\tKEY\r") && !allows("\0me KEY") && allows("me KEY\0") && !allows("me\0 KEY"))
        try expect(allows("me KEY" + String(repeating: "x", count: 20_000)), is: false)
        #expect(try allows("me x" + String(repeating: "x", count: 20_000) + "\nme KEY"))
    }

    @Test(arguments: [
        "me", "me ssh-ed25519", "me colour=\"red\" KEY", "me namespaces=\"file\",colour KEY",
        "me valid-after=\"2020\" KEY",
        "me valid-before=\"20201399\" KEY", "me ssh-ed25519 !!!", "me ssh-ed25519 AAAA",
        "me namespaces=file KEY", "me namespaces=\"file KEY", "me namespaces=\"file\" namespaces=\"git\" KEY",
        "me namespaces=\"git\",namespaces=\"file\" KEY", "me valid-before=\"20300101\",valid-before=\"20990101\" KEY",
        "me valid-after=\"20990101\",valid-after=\"20200101\" KEY", "me namespaces=\"file\", KEY",
        "me valid-after=\"20400101\",valid-before=\"20200101\" KEY", "me ssh-rsa AAAAC3NzaC1lZDI1NTE5",
        "me ssh-dss AAAA",
        "me valid-after=\"20200101\" ",
    ]) func aBrokenLineIsPassedOver(line: String) throws {
        let alone = try check(line)
        #expect(!alone.isAllowed)
        let followed = try check(line + "\nme KEY")
        #expect(followed.isAllowed)
        // A line for somebody else is nobody's problem.
        #expect(try check(line.replacing("me", with: "you") + "\n").notes.isEmpty)
        if line != "me" { #expect(alone.notes.count == 1 && alone.notes[0].hasPrefix("line 3: ")) }
    }

    @Test func timesAreInTheZoneOfTheSystemUnlessTheyEndWithZ() {
        expect(SSHTime.seconds(Array("20300101Z".utf8)), is: 1_893_456_000)
        expect(SSHTime.seconds(Array("203001010000z".utf8)), is: 1_893_456_000)
        expect(SSHTime.seconds(Array("20300101000000UTC".utf8)), is: 1_893_456_000)
        expect(SSHTime.seconds(Array("20300231Z".utf8)), is: SSHTime.seconds(Array("20300303Z".utf8)))
        for text in [
            "", "Z", "UTC", "2030010", "20301301Z", "20300132Z", "2030010124Z", "203001012460Z", "2030-1-1",
            "19690101Z",
        ] {
            expect(SSHTime.seconds(Array(text.utf8)), is: nil, "\(text)")
        }
    }

    @Test("a comment from a key makes no second line of authorized_keys")
    func commentsAreOneLine() throws {
        let key = try Vectors.key("ed25519")
        let line = key.line(comment: "ssh:x\nssh-ed25519 AAAA\r\u{2028}evil")
        expect(line, is: "\(key.line(comment: "")) ssh:x_ssh-ed25519 AAAA__evil")
    }
}
