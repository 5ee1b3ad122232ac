// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import YKHardware
import YKOATH
import YKTestSupport
import YKTransport
import YKWire

@testable import TerminalIO
@testable import Verbs

@Suite struct ExplainTests {
    static let linkErrors: [(LinkError, TerminalIO.ExitStatus, String)] = [
        (.serviceNotInstalled, .noDevice, "apt install"),
        (.serviceNotRunning, .noDevice, "ykit doctor"),
        (.accessDenied(.service), .permission, "access_pcsc"),
        (.accessDenied(.card(reader: "x")), .permission, "polkit.addRule"),
        (.accessDenied(.socket(path: "/run/x")), .permission, "pcscd.socket"),
        (.serviceMismatch, .failed, "libpcsclite"),
        (.noReader, .noDevice, "--virtual"),
        (.unknownReader("x"), .noDevice, "ykit list"),
        (.noCard(reader: "x"), .noDevice, "put the card"),
        (.noDevice(path: "/dev/hidraw9"), .noDevice, "ykit list"),
        (.busy(reader: "x", holders: [.init(pid: 7, name: "scdaemon")]), .busy, "gpgconf --kill all"),
        (.busy(reader: "x", holders: []), .busy, "end the program"),
        (.removed, .removed, "insert it again"),
        (.timedOut("x"), .timeOut, "--timeout"),
        (.replay(.init(line: 3, expected: [0, 0xA1, 0, 0], reason: "r")), .replayMismatch, "record this command"),
        (.cancelled, .interrupted, ""),
    ]

    @Test(arguments: linkErrors) func link(_ error: LinkError, _ exit: TerminalIO.ExitStatus, _ hint: String) {
        for explained in [Explanation(error), Explanation(OATHError.card(.link(error)))] {
            expect(explained.exit, is: exit)
            if !hint.isEmpty { expect(explained.hint?.contains(hint), is: true, "\(explained)") }
            expect(explained.message.first?.isUppercase, is: false)
            #expect(explained.message.last != ".")
        }
    }

    @Test func theUDevRuleThatIsMissingIsNamed() {
        let missing = Explanation(Concerning(.file("/dev/hidraw7"), UDevRule.missing))
        #expect(missing.message.contains("/dev/hidraw7") && missing.exit == .permission)
        expect(missing.hint?.contains("ykit udev-rules | sudo tee "), is: true)
        expect(missing.hint?.contains("/etc/udev/rules.d/70-ykit.rules"), is: true)
        expect(missing.hint?.contains("udevadm trigger"), is: true)
        expect(Explanation(UDevRule.notApplied).hint?.contains("udevadm control --reload"), is: true)
        expect(Explanation(UDevRule.applied).hint?.contains("usermod -aG plugdev"), is: true)
    }

    @Test func whatTheRuleHasDoneIsFoundInTheFilesOfUDev() throws {
        let root = FileManager.default.temporaryDirectory.appendingPathComponent("ykit-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: root) }
        func create(_ path: String) throws {
            let file = root.appendingPathComponent(path)
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data().write(to: file)
        }
        expect(UDevRule(for: "/dev/null", root: root.path), is: .missing)
        try create("usr/lib/udev/rules.d/70-ykit.rules")
        expect(UDevRule(for: "/dev/null", root: root.path), is: .notApplied)
        try create("run/udev/tags/uaccess/c1:3")  // /dev/null by its numbers, null(4).
        expect(UDevRule(for: "/dev/null", root: root.path), is: .applied)
        expect(UDevRule(for: "/dev/no-such-node", root: root.path), is: .notApplied)
    }

    @Test func theHolderIsNamed() {
        let busy = LinkError.busy(reader: "R", holders: [.init(pid: 42, name: "gsd-smartcard")])
        #expect(Explanation(busy).message.contains("gsd-smartcard (pid 42)"))
    }

    @Test(
        arguments: [
            (StatusWord(0x63C2), TerminalIO.ExitStatus.authentication, 2), (StatusWord(0x6983), .blocked, 0),
            (StatusWord(0x6D00), .notSupported, nil), (StatusWord(0x6A82), .notFound, nil),
            (StatusWord(0x6985), .policy, nil), (StatusWord(0x6F00), .failed, nil),
        ] as [(StatusWord, TerminalIO.ExitStatus, Int?)])
    func status(_ status: StatusWord, _ exit: TerminalIO.ExitStatus, _ tries: Int?) {
        let explained = Explanation(CardError.status(status, during: "X"))
        expect(explained.exit, is: exit)
        expect(explained.retriesLeft, is: tries)
    }

    @Test func versionGate() {
        let error = OATHError.unsupported(.rename, needs: FirmwareVersion(5, 3, 1), has: FirmwareVersion(5, 2, 4))
        expect(Explanation(error).message, is: "rename is not supported by this key (needs 5.3.1, has 5.2.4)")
        expect(Explanation(error).exit, is: .notSupported)
    }

    @Test func namesFromAKeyCannotDriveTheTerminal() {
        expect("a\u{1B}[2Jb\u{202E}".printable, is: "a\\u{1b}[2Jb\\u{202e}")
    }

    @Test(arguments: [
        "own.keys", "/etc/ssl/certs", "9a.pem", "key-2024-11-23.jsonl", "a3f5", "backup", "myfilewithoutdigits", "-",
        "../Downloads/otpauth.txt",
    ])
    func namesOfFilesAreRepeated(_ name: String) {
        #expect(!name.isKeyMaterial && name.pathInWords == name)
    }

    @Test(arguments: [
        "404142434445464748494a4b4c4d4e4f", "40:41:42:43:44:45:46:47:48:49:4A:4B:4C:4D:4E:4F", "GEZDGNBVGY3TQOJQ",
        "JBSWYDPEHPKPXPAB", "gezd gnbv gy3t qojq", "otpauth://totp/a?secret=x", "AGE-SECRET-KEY-1QQ",
        "-----BEGIN PRIVATE KEY-----\nMC4C",
    ])
    func secretsInPlaceOfFilesAreNot(_ secret: String) {
        #expect(secret.isKeyMaterial && !secret.pathInWords.contains(secret))
        do throws(TerminalIO.Explanation) {
            _ = try Files.read(secret)
            Issue.record("read")
        } catch {
            #expect(error.exit == .usage && !error.message.contains(secret) && error.hint?.contains(secret) != true)
        }
    }
}
