// SPDX-License-Identifier: Apache-2.0

import Synchronization
import Testing
import YKCrypto
import YKFIDO
import YKHardware
import YKTestSupport
import YKWire

@testable import YKLUKS

/// How volumes are changed: what cryptsetup is told, and in which order.
struct CryptsetupTests {
    /// What a program was told: its arguments, standard input and descriptor 3.
    private final class Calls: Sendable {
        let all = Mutex<[(arguments: [String], input: String, second: String?)]>([])

        var actions: [String] {
            all.withLock { $0.map { $0.arguments.prefix { !$0.hasPrefix("-") }.joined(separator: " ") } }
        }
    }

    /// A cryptsetup that ends as told for an action, otherwise well.
    private func program(_ endings: [String: ChildProcess.Ending] = [:]) -> (Cryptsetup, Calls) {
        let calls = Calls()
        let cryptsetup = Cryptsetup { arguments, input, second throws(ProgramError) in
            calls.all.withLock {
                $0.append(
                    (
                        arguments, String(decoding: input, as: UTF8.self),
                        second.map { String(decoding: $0, as: UTF8.self) }
                    ))
            }
            let action = arguments.prefix { !$0.hasPrefix("-") }.joined(separator: " ")
            if let ending = endings[action] {
                if ending.status == -1 { throw .timedOut(program: "cryptsetup") }
                return ending
            }
            return ChildProcess.Ending(status: 0, output: [])
        }
        return (cryptsetup, calls)
    }

    private let present = SharedSecret(Secret(utf8: "present"))

    private func enrollment() -> LUKSEnrollment {
        let token = SystemdToken(
            rpID: "x", credential: [1], salt: [UInt8](repeating: 0, count: 32), isVerified: true, needsTouch: true)
        return LUKSEnrollment(.fido2(token), secret: SharedSecret(Secret([1, 2, 3])), name: "key", serial: nil)
    }

    @Test("no secret is among the arguments") func add() throws {
        let (cryptsetup, calls) = program()
        let metadata = try LUKS2Header(Headers.bytes("enrolled.luks2")).metadata
        let added = try enrollment().add(to: "/dev/x", metadata, present: present, cryptsetup)
        #expect(added == (5, 4) && calls.actions == ["luksAddKey", "open", "token import"])
        let told = calls.all.withLock { $0 }
        #expect(
            told[0].input == "present" && told[0].second == "AQID"
                && told[0].arguments.suffix(2).last == "/proc/self/fd/3")
        #expect(told[1].input == "AQID" && told[1].arguments.contains("5") && told[1].second == nil)
        try expect(JSONValue(parsing: told[2].input)["ykit-name"]?.string, is: "key")
        #expect(told.allSatisfy { !$0.arguments.contains { ["present", "AQID"].contains($0) } })
    }

    @Test("a slot without a token does not stay", arguments: ["token import", "open"]) func failedToken(
        _ action: String
    ) throws {
        let (cryptsetup, calls) = program([
            action: .init(status: 1, output: [], errors: Array("WARNING: a\nno room\nWARNING: b\n".utf8))
        ])
        let metadata = try LUKS2Header(Headers.bytes("plain.luks2")).metadata
        #expect(throws: LUKSError.cryptsetup("no room", status: 1)) {
            try enrollment().add(to: "/dev/x", metadata, present: present, cryptsetup)
        }
        expect(calls.actions.suffix(2), is: ["luksKillSlot", "token remove"])
        expect(calls.all.withLock { $0.last { $0.arguments[0] == "luksKillSlot" }?.input }, is: "present")
    }

    @Test("a slot that cryptsetup added although it failed does not stay", arguments: [0, 2] as [Int32])
    func addedAlthoughItFailed(_ opens: Int32) throws {
        let (cryptsetup, calls) = program([
            "luksAddKey": .init(status: 1, output: []), "open": .init(status: opens, output: []),
        ])
        let metadata = try LUKS2Header(Headers.bytes("plain.luks2")).metadata
        #expect(throws: LUKSError.cryptsetup("", status: 1)) {
            try enrollment().add(to: "/dev/x", metadata, present: present, cryptsetup)
        }
        expect(calls.actions, is: ["luksAddKey", "open"] + (opens == 0 ? ["luksKillSlot"] : []))
    }

    @Test("a slot that cannot be removed again is named") func remains() throws {
        let (cryptsetup, _) = program([
            "token import": .init(status: 1, output: []), "luksKillSlot": .init(status: 5, output: []),
        ])
        let metadata = try LUKS2Header(Headers.bytes("plain.luks2")).metadata
        #expect(throws: LUKSError.slotRemains(1)) {
            try enrollment().add(to: "/dev/x", metadata, present: present, cryptsetup)
        }
    }

    @Test("a slot that does not open is removed again") func unproven() throws {
        let (cryptsetup, calls) = program(["open": .init(status: 2, output: [])])
        let metadata = try LUKS2Header(Headers.bytes("plain.luks2")).metadata
        #expect(throws: LUKSError.wrongPassphrase) {
            try enrollment().add(to: "/dev/x", metadata, present: present, cryptsetup)
        }
        expect(calls.actions, is: ["luksAddKey", "open", "luksKillSlot", "token remove"])
        #expect(try !cryptsetup.opens("/dev/x", present))
    }

    @Test("the slot goes first, then the tokens of no other slot") func remove() throws {
        let (cryptsetup, calls) = program()
        let metadata = try LUKS2Header(Headers.bytes("enrolled.luks2")).metadata
        try metadata.remove(slot: 3, from: "/dev/x", remaining: present, cryptsetup)
        expect(calls.actions, is: ["luksKillSlot", "token remove", "token remove"])
        let (other, none) = program()
        #expect(throws: LUKSError.lastSlot(0)) {
            try LUKS2Header(Headers.bytes("plain.luks2")).metadata.remove(
                slot: 0, from: "/dev/x", remaining: present, other)
        }
        #expect(none.actions.isEmpty)
        let (wrong, _) = program(["luksKillSlot": .init(status: 2, output: [])])
        #expect(throws: LUKSError.wrongPassphrase) {
            try metadata.remove(slot: 3, from: "/dev/x", remaining: present, wrong)
        }
    }

    @Test func aProgramThatHangs() throws {
        let (cryptsetup, _) = program(["open": .init(status: -1, output: [])])
        #expect(throws: LUKSError.program(.timedOut(program: "cryptsetup"))) { try cryptsetup.opens("/dev/x", present) }
    }

    @Test("the program of this machine", .enabled(if: ChildProcess.find("cryptsetup", path: "/usr/sbin:/sbin") != nil))
    func installed() throws {
        let cryptsetup = try Cryptsetup.installed(path: nil)
        #expect(throws: LUKSError.self) { try cryptsetup.opens("/nonexistent", present) }
    }
}
