// SPDX-License-Identifier: Apache-2.0

import Testing
import YKCrypto
import YKManagement
import YKOTP
import YKTestSupport
import YKTransport
import YKVirtualKey
import YKWire

struct OTPTests {
    @Test("slots have the old or the new contents", arguments: OTPOperations.all)
    func slots(_ operation: Operation) async throws { try await operation.proveNothingIsLost() }

    @Test("the same over the keyboard's feature reports", arguments: OTPOperations.changes)
    func slotsOverReports(_ change: OTPOperations.Change) async throws {
        let first = try VirtualKey(
            .new(DeviceProfile(serial: 4711), random: ScatteredRandom()), inputs: Operation.inputs)
        try await change.prepare(first)
        let before = first.state
        func run(_ cut: CutReportLink.Cut?, at number: Int) async throws -> (key: VirtualKey, count: Int, isCut: Bool) {
            let key = VirtualKey(before, inputs: Operation.inputs)
            let counter = CutReportLink.Counter(cut, at: number)
            let link = CutReportLink(key.otpReportLink(), counter)
            var isCut = false
            do { try await change.act(.open(HIDOTPLink(link, environment: .instant(ScatteredRandom())))) } catch {
                isCut = true
            }
            return (VirtualKey(key.state, inputs: Operation.inputs), counter.count, isCut)
        }
        let whole = try await run(nil, at: 0)
        try await change.isDone(whole.key)
        #expect(!whole.isCut && whole.count > 1)
        for number in 1...whole.count {
            for cut in CutReportLink.Cut.allCases {
                let (key, _, isCut) = try await run(cut, at: number)
                do {
                    try await change.holds(key)
                    if isCut, try await change.isOpen(key) { try await change.act(OTPOperations.open(key.link())) }
                    try await change.isDone(key)
                } catch { Issue.record("\(change.name): report \(number) \(cut): \(error)") }
            }
        }
    }

    @Test("the configuration is the old or the new one", arguments: ConfigOperations.all)
    func configuration(_ operation: Operation) async throws { try await operation.proveNothingIsLost() }
}

/// What the slots do in more than one exchange.
enum OTPOperations {
    static func open(_ link: sending any CardLink) async throws -> OTPService {
        try await .open(CardOTPLink(channel(link)))
    }

    static func program(_ link: sending any CardLink, _ slot: OTPSlot, _ byte: UInt8) async throws {
        let key = SharedSecret(Secret([UInt8](repeating: byte, count: 20)))
        try await open(link).program(slot, .hmac(key: key, needsTouch: false))
    }

    /// What each slot answers to a challenge, which tells its keys apart.
    static func answers(_ key: VirtualKey) async throws -> [[UInt8]] {
        let service = try await open(key.link())
        var answers: [[UInt8]] = []
        for slot in OTPSlot.allCases {
            do { answers.append(try await service.hmac(slot, [1])) } catch OTPError.emptySlot { answers.append([]) }
        }
        return answers
    }

    static func expected(_ byte: UInt8) -> [UInt8] {
        HashAlgorithm.sha1.hmac(key: Secret([UInt8](repeating: byte, count: 20)), [1])
    }

    /// A change of the slots, however the key is reached.
    struct Change: Sendable, CustomTestStringConvertible {
        let name: String
        let prepare: @Sendable (VirtualKey) async throws -> Void
        let act: @Sendable (OTPService) async throws -> Void
        let holds: @Sendable (VirtualKey) async throws -> Void
        /// Whether the change is still to be made after a cut.
        var isOpen: @Sendable (VirtualKey) async throws -> Bool = { _ in true }
        let isDone: @Sendable (VirtualKey) async throws -> Void
        var testDescription: String { name }
    }

    private static let programBoth: @Sendable (VirtualKey) async throws -> Void = { key in
        try await program(key.link(), .one, 1)
        try await program(key.link(), .two, 2)
    }

    static let changes: [Change] = [
        Change(
            name: "program a slot", prepare: { try await program($0.link(), .two, 1) },
            act: { service in
                let key = SharedSecret(Secret([UInt8](repeating: 2, count: 20)))
                try await service.program(.two, .hmac(key: key, needsTouch: false))
            },
            holds: { key in
                let answer = try await answers(key)[1]
                try require(answer == expected(1) || answer == expected(2), "slot 2")
            }, isDone: { try require(try await answers($0)[1] == expected(2), "the new key of slot 2") }),
        Change(
            name: "delete a slot", prepare: programBoth,
            act: { if await $0.state(of: .two).isProgrammed != false { try await $0.delete(.two) } },
            holds: { try require(try await answers($0)[0] == expected(1), "the other slot") },
            isDone: { try require(try await answers($0)[1].isEmpty, "the empty slot") }),
        Change(
            name: "swap", prepare: programBoth, act: { try await $0.swap() },
            holds: { try require(Set(try await answers($0)) == [expected(1), expected(2)], "a slot") },
            isOpen: { try await answers($0)[0] == expected(1) },
            isDone: { try require(try await answers($0) == [expected(2), expected(1)], "the swap") }),
    ]

    static let all = changes.map { change in
        Operation(
            name: change.name, prepare: change.prepare, run: { try await change.act(open($0)) }, holds: change.holds,
            again: { if try await change.isOpen($0) { try await change.act(open($0.link())) } },
            isDone: change.isDone)
    }
}

/// What device configuration does in more than one exchange.
enum ConfigOperations {
    static func open(_ link: sending any CardLink) async throws -> ManagementService { try await .open(channel(link)) }

    static let code = [UInt8](repeating: 0x5A, count: 16)

    /// Switches OATH off over NFC, with the code where there is one.
    static func switchOff(_ link: sending any CardLink) async throws {
        let service = try await open(link)
        var change = DeviceConfiguration()
        change.nfcEnabled = [.fido2, .u2f, .piv]
        let isLocked = try await service.deviceInfo().isLocked
        let outcome = try await service.write(change, lockCode: isLocked ? LockCode(code) : nil)
        try require(outcome.unconfirmed.isEmpty, "what was written")
    }

    static func lock(_ link: sending any CardLink) async throws {
        let service = try await open(link)
        if try await service.deviceInfo().isLocked { return }
        _ = try await service.setLockCode(LockCode(code))
    }

    static func unlock(_ link: sending any CardLink) async throws {
        let service = try await open(link)
        if try await service.deviceInfo().isLocked {
            _ = try await service.setLockCode(.cleared, current: LockCode(code))
        }
    }

    static let all: [Operation] = [
        Operation(
            name: "switch an application off", run: { try await switchOff($0) },
            holds: { key in
                let info = try await open(key.link()).deviceInfo()
                try require(info.usb.enabled == info.usb.supported, "the applications over USB")
            },
            isDone: { key in
                let enabled = try await open(key.link()).deviceInfo().nfc?.enabled
                try require(enabled == [.fido2, .u2f, .piv], "the applications over NFC")
            }),
        Operation(
            name: "set a lock code", run: { try await lock($0) }, holds: { try await switchOff($0.link()) },
            isDone: { try require(try await open($0.link()).deviceInfo().isLocked, "the lock") }),
        Operation(
            name: "remove the lock code", prepare: { try await lock($0.link()) }, run: { try await unlock($0) },
            holds: { try await switchOff($0.link()) },
            isDone: { try require(try await !open($0.link()).deviceInfo().isLocked, "no lock") }),
    ]
}
