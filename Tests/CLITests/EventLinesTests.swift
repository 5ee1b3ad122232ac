// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization
import Testing
import YKBridge
import YKFIDO
import YKInteraction
import YKTestSupport
import YKTransport
import YKVirtualKeyHost
import YKWire

@testable import DeviceVerbs
@testable import TerminalIO
@testable import Verbs
@testable import YKHardware

/// The lines that `bridge`, `remote` and `virtual serve` print while they run. Names come from programs, sites and other
/// machines.
final class EventLinesTests {
    private let lines = Said()
    private let terminal = Terminal()
    private let file = NSTemporaryDirectory() + "ykit-log-\(UUID().uuidString)"

    init() { terminal.relay { [lines] in lines.add($0) } }

    deinit { try? FileManager.default.removeItem(atPath: file) }

    private var said: [String] { lines.taken() }

    private func log() throws -> Log { try Log(level: .traffic, file: file, terminal) }

    private func logged() throws -> String { try String(contentsOfFile: file, encoding: .utf8) }

    @Test("what a far end asks for, and what became of it") func remote() throws {
        let events = RemoteEvents(terminal, try log(), host: "lab\u{1B}[2J")
        let signIn = Ceremony.signIn(site: "example.com")
        events.report(.connected(program: "0.2.0\u{7}"))
        events.report(.begun(signIn, asks: true))
        events.report(.begun(signIn, asks: false))
        events.report(.answered(signIn, status: 0))
        events.report(.answered(signIn, status: 0x27))
        events.report(.answered(signIn, status: 0xF3))
        events.report(.used(.pivKey(slot: 0x9A), .ok))
        events.report(.used(.code(account: "a\u{1B}b"), StatusWord(0x6982)))
        events.report(.used(.allCodes, StatusWord(0x6999)))
        events.report(.withdrawn(signIn))
        events.report(.failed(signIn, .touchTimeout))
        let before = said
        #expect(before.contains { $0.hasSuffix("may sign in to example.com without asking") })
        #expect(before.contains { $0.hasPrefix("sign in to example.com, for lab") && $0.hasSuffix(": done") })
        #expect(before.contains { $0.hasSuffix(": status f3") })
        #expect(before.contains { $0.hasPrefix("sign or decrypt with the PIV key in slot 9a, for lab") })
        #expect(before.contains { $0.hasPrefix("warning: sign in to example.com, for lab") })
        let refusals: [RemotePolicy.Refusal] = [
            .command("authenticatorReset"), .otherSite, .refusedSite, .localSecret, .probe, .nothingNext, .declined,
            .tooManyQuestions, .malformed,
        ]
        for refusal in refusals { events.report(.refused(signIn, refusal)) }
        events.report(.refused(nil, .malformed))
        let refused = said
        #expect(refused.count == refusals.count + 1 && Set(refused).count == refused.count)
        #expect(events.counts == (6, 10))
        #expect((before + refused).allSatisfy { !$0.contains("\u{1B}") && !$0.contains("\u{7}") })
        #expect(try logged().contains("refused lab") && !logged().contains("\u{1B}"))
    }

    @Test("of what a far end writes, 200 lines are shown, each with its name and without control characters")
    func farLines()
        throws
    {
        let events = RemoteEvents(terminal, try log(), host: "lab")
        for number in 1...500 { events.show("line \(number)\u{1B}[1m\r\n") }
        let shown = said
        #expect(shown.count == 201 && shown.last == "lab| …")
        #expect(shown.allSatisfy { $0.hasPrefix("lab| ") && !$0.contains("\u{1B}") && !$0.contains("\r") })
    }

    @Test("refused requests and searches count among these lines, and long names are cut") func causedLines() throws {
        let events = RemoteEvents(terminal, try log(), host: "lab")
        for number in 1...300 {
            events.report(.refused(.signIn(site: String(repeating: "a", count: 7000)), .localSecret))
            events.report(.searched(site: "ssh:\(number)", status: 0))
        }
        events.show("a line")
        let shown = said
        #expect(shown.count == 201 && shown.last == "lab| …" && events.counts.refused == 300)
        expect(shown[1], is: "search for credentials at ssh:1, for lab: done")
        #expect(shown.allSatisfy { $0.utf8.count < 300 })
    }

    @Test("what programs of this machine ask of a guarded key, and what became of it") func guarded() throws {
        let events = GuardEvents(terminal, try log())
        let signIn = Ceremony.signIn(site: "example.com")
        events.report(.connected(program: "0.2.0"))
        events.report(.begun(signIn, asks: true))
        events.report(.answered(signIn, status: 0))
        events.report(.refused(signIn, .refusedSite))
        events.report(.refused(nil, .command("reset")))
        events.report(.withdrawn(signIn))
        events.report(.failed(signIn, .wrongPIN(nil)))
        let shown = said
        #expect(shown.contains("sign in to example.com: done"))
        #expect(shown.contains("refused to sign in to example.com: --refuse names this site"))
        #expect(shown.contains { $0.contains("'ykit guard pause' gives it to them") })
        #expect(shown.contains { $0.hasPrefix("warning: sign in to example.com: ") })
        #expect(events.counts == (1, 2))
        for number in 1...300 { events.report(.searched(site: "a\u{1B}\(number)", status: 0)) }
        let searched = said
        #expect(searched.last == "…" && searched.count < 210 && searched.allSatisfy { !$0.contains("\u{1B}") })
        let parts: [GuardEvent] = [
            .listening(path: "/run/ykit/guard.sock"), .connected(process: 7), .refusedSecond(process: 8, serving: 7),
            .refusedUser(1001), .taken(path: "/dev/ykit-guard/hidraw0"), .presented(node: "/dev/hidraw1"),
            .presented(node: ""), .givenBack, .paused(300), .paused(0), .away(process: 7, .locked), .failed(.lost),
            .notTaken(.init(path: "/dev/hidraw0", number: ENOENT)),
        ]
        for event in parts { events.report(event) }
        expect(Set(said).count, is: parts.count)
    }

    @Test("a question names the site, what it opens, and who may be asking") func guardQuestions() {
        func question(_ ceremony: Ceremony, _ programs: [String] = []) -> String {
            BridgeQuestion.local(ceremony, programs: programs).words.question
        }
        expect(question(.signIn(site: "example.com")), is: "use the key to sign in to example.com")
        #expect(
            question(.signIn(site: "example.com"), ["firefox"])
                == "use the key to sign in to example.com (asked by 'firefox')")
        #expect(
            question(.register(site: "ssh:", user: "alice"), ["a", "b'", "c\u{1B}", "d"])
                == "use the key to create a credential at ssh:, for 'alice', which is an SSH key "
                + "(asked by one of 'a', 'b\\'', 'c\\u{1b}')")
        let sites = [
            "io.systemd.cryptsetup", "io.systemd.home", "age-encryption.org", "ssh:", "pam://lab", "ykit:store",
            "intranet",
        ]
        let opened = sites.map { Ceremony.deriveSecret(site: $0).localSecret }
        #expect(!opened.contains(nil) && Set(opened).count == sites.count)
        #expect(Ceremony.deriveSecret(site: "example.com").localSecret == nil && Ceremony.select.localSecret == nil)
        expect(AccountQuestion(site: "example.com", accounts: []).words.question, is: "which account at example.com")
    }

    @Test("the cards of a bridge, and what their users have to do") func bridge() throws {
        let events = BridgeEvents(terminal, try log())
        let register = Ceremony.register(site: "example.com", user: "alice")
        let reader = "ACME\u{1B}[2J 00 00"
        events.report(.inserted(node: ""))
        expect(events.node, is: nil)
        events.report(.inserted(node: "/dev/hidraw3"))
        expect(events.node, is: "/dev/hidraw3")
        events.report(.cardInserted(VPCDAddress()))
        events.report(.cardReady(reader: reader, isContactless: true))
        events.report(.cardReady(reader: reader, isContactless: false))
        events.report(.cardForeign(reader: reader))
        events.report(.cardFailed(reader: reader, .unresponsive("x")))
        events.report(.cardLeft(reader: reader))
        for wait: BridgeWait in [.card, .cardBack, .lift(reader: reader), .otherProgram(reader: reader)] {
            events.report(.waiting(wait, for: register))
            events.report(.waitEnded)
        }
        let before = said
        #expect(before.count == 12 && Set(before).count == 12)
        #expect(before.contains("the device is ready") && before.contains("the device is /dev/hidraw3"))
        #expect(before.contains("the card is in the reader at 127.0.0.1:35963"))
        #expect(before.allSatisfy { !$0.contains("\u{1B}") })
        events.report(.waiting(.confirmation(reader: reader), for: register))
        expect(said, is: [], "the question on the terminal says so")
        events.report(.answered(register, reader: reader, status: 0))
        events.report(.answered(register, reader: reader, status: 0x27))
        events.report(.winked)
        events.report(.serviceFailed(.noReader))
        events.report(.removed)
        let after = said
        #expect(after.first == "create a credential at example.com, for 'alice': done" && after.count == 5)
        expect(events.ceremonies, is: 2)
        #expect(try logged().contains("waiting for confirmation: create a credential"))
    }

    @Test("what a served key is asked, with the names of its commands") func served() throws {
        let events = ServedEvents(terminal: terminal, log: try log())
        events.report(VPCDServer.Event.inserted)
        events.report(VPCDServer.Event.powerOn)
        events.report(VPCDServer.Event.reset)
        events.report(
            VPCDServer.Event.exchange(command: [0, 0xA4, 4, 0, 5, 0xA0, 0, 0, 3, 8], response: [0x6A, 0x82]))
        events.report(VPCDServer.Event.exchange(command: [0, 0xCB, 0x3F, 0xFF], response: nil))
        events.report(VPCDServer.Event.powerOff)
        events.report(VPCDServer.Event.removed)
        events.report(VPCDServer.Event.failed(.noReader))
        expect(said.count, is: 3)
        events.report(ServedKeyEvent.inserted(node: ""))
        expect(events.node, is: nil)
        events.report(ServedKeyEvent.inserted(node: "/dev/hidraw9"))
        expect(events.node, is: "/dev/hidraw9")
        events.report(ServedKeyEvent.written([0xFF, 0xFF, 0xFF, 0xFF, 0x86, 0, 8] + [UInt8](1...8)))
        events.report(ServedKeyEvent.delivered([0xFF, 0xFF, 0xFF, 0xFF, 0xBF, 0, 1, 6]))
        events.report(ServedKeyEvent.exchange(command: [0, 0xA4, 4, 0, 0], response: [0x90, 0]))
        events.report(ServedKeyEvent.winked)
        events.report(ServedKeyEvent.removed)
        events.report(ServedKeyEvent.failed(.removed))
        expect(
            said.prefix(4),
            is: [
                "the key is plugged in, ^C ends it", "the key is /dev/hidraw9, ^C ends it", "the key blinks",
                "the key is unplugged",
            ])
        let log = try logged()
        for part in ["power on", "power off", "reset", "SELECT", "no answer", "INIT"] {
            #expect(log.contains(part), "\(part) in \(log)")
        }
    }
}

/// Lines in the order in which they were said.
private final class Said: Sendable {
    private let lines = Mutex<[String]>([])

    func add(_ line: String) { lines.withLock { $0.append(line) } }

    /// The lines since the last call.
    func taken() -> [String] {
        lines.withLock { lines in
            defer { lines = [] }
            return lines
        }
    }
}
