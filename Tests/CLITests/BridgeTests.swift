// SPDX-License-Identifier: Apache-2.0

import Testing
import Words
import YKBridge
import YKTestSupport

@testable import DeviceVerbs
@testable import TerminalIO
@testable import YKHardware

/// What the bridge says to people.
struct BridgeTests {
    @Test("names of users, as udev takes them")
    func names() {
        for name in ["alice", "_apt", "a.b-c_9", "A"] { #expect(BridgeNode.isName(name), "\(name)") }
        for name in ["", "9a", "-x", "a b", "a\n", "../root", "a$b", "ä", String(repeating: "a", count: 33)] {
            #expect(!BridgeNode.isName(name), "\(name)")
        }
        expect(BridgeNode.numbers, is: "1209:796b")
    }

    @Test("each ceremony and each wait has words; names of sites cannot write to the terminal")
    func words() {
        let ceremonies: [Ceremony] = [
            .register(site: "example.com", user: "alice"), .register(site: "example.com", user: nil),
            .signIn(site: "example.com"), .search(site: "example.com"), .deriveSecret(site: "example.com"),
            .registerU2F, .signInU2F, .select, .reset,
            .pin, .manage,
        ]
        expect(Set(ceremonies.map(\.words)).count, is: ceremonies.count)
        #expect(!Ceremony.signIn(site: "a\u{1B}[2Jb").words.contains("\u{1B}"))
        let waits: [BridgeWait] = [
            .card, .cardBack, .lift(reader: "r"), .confirmation(reader: "r"), .otherProgram(reader: "r"),
        ]
        expect(Set(waits.map { $0.words(for: .select) }).count, is: waits.count)
    }

    @Test("what a guard cannot do is said with what to do") func guardErrors() {
        let errors: [GuardError] = [
            .notRunning(path: "/run"), .denied(path: "/run"), .busy(process: 7), .nodeNotTaken(number: 2), .noKeeper,
            .lost,
            .socket(.listens(path: "/run")), .socket(.exists(path: "/run")), .socket(.failed(path: nil, number: 13)),
        ]
        let explanations = errors.map(\.explanation)
        #expect(explanations.allSatisfy { $0.hint != nil } && Set(explanations.map(\.message)).count == errors.count)
        expect(explanations[2].message, is: "process 7 is already asked about the key")
        expect(explanations[8].exit, is: .permission)
    }

    @Test("the doctor names bridges, and whose they are")
    func doctor() {
        let checks = Check.bridges(
            [HIDDevice.Access.readable, .denied, .missing].map { access in
                BridgeDevice(
                    path: "/dev/hidraw7", name: Bridge.name, owner: access == .missing ? nil : "alice", access: access)
            })
        expect(checks.map(\.verdict), is: [.good, .note, .note])
        #expect(checks[0].seen.contains("as /dev/hidraw7, which belongs to alice"))
        expect(checks[1].remedy?.contains("ykit-bridge@"), is: true)
        #expect(checks.allSatisfy { $0.name == "bridge" })
        let others = Check.bridges(
            [GuardSystem.name, FarEnd.name].map {
                BridgeDevice(path: "/dev/hidraw8", name: $0, owner: "alice", access: .readable)
            })
        expect(others[0].seen, is: "a guard presents the key to programs as /dev/hidraw8, which belongs to alice")
        #expect(others[1].seen.contains("a key of another machine"))
    }

    @Test("the doctor names what a guard lacks, with the command that helps, and is silent without one")
    func guardParts() {
        #expect(Check.guard(GuardParts()).isEmpty)
        var parts = GuardParts(
            listens: true, isEnabled: true, hasUHID: true, hasBus: true, hasPinentry: true, hasList: true)
        expect(Check.guard(parts).map(\.verdict), is: [.good])
        parts.listens = false
        expect(Check.guard(parts).first?.remedy, is: "sudo systemctl enable --now ykit-guard.socket")
        let lacking = Check.guard(GuardParts(isEnabled: true, hasPinentry: false, hasList: false, snaps: ["firefox"]))
        expect(lacking.map(\.verdict), is: [.bad, .bad, .bad, .note, .note, .note])
        #expect(lacking.allSatisfy { $0.name == "guard" && $0.remedy != nil })
        expect(lacking.last?.seen.hasPrefix("firefox is a snap"), is: true)
    }

    @Test("a guard says why the key is free") func away() {
        expect(Set(GuardAbsence.allCases.map(\.words)).count, is: GuardAbsence.allCases.count)
        expect(GuardState(process: 7, absence: .locked).lines, is: ["the key is free while the screen is locked"])
        expect(GuardState(process: 7, pause: 9, absence: .locked).lines, is: ["paused, for 9 s more"])
    }

    @Test("times as people type them") func times() {
        for (text, seconds) in [("90", 90), ("90s", 90), ("5m", 300), ("2h", 7200), ("0", 0)] {
            expect(TimeArgument(argument: text)?.seconds, is: seconds)
        }
        for text in ["", "m", "-5", "5d", "5 m", "05", "+5", "1.5m", "9223372036854775807h"] {
            expect(TimeArgument(argument: text), is: nil, "\(text)")
        }
    }
}
