// SPDX-License-Identifier: Apache-2.0

import Testing
import YKCrypto
import YKOATH
import YKTransport
import YKVirtualKey
import YKWire

/// The key is taken away at each exchange of each operation: a typed error, never a trap or a hang, and a key that
/// works again afterwards.
struct InterruptionTests {
    enum Operation: String, CaseIterable {
        case accounts, codes, code, counter, touch, response, put, rename, delete, conflicts, reset, password
        case unlock, remove, damaged
    }

    private static func run(_ operation: Operation, _ service: OATHService) async throws {
        let alice = OATHAccountID(issuer: "Acme", name: "alice@example.com")
        if await service.info.isLocked {
            try await service.unlock(with: try await Virtual.password("hunter2", service))
        }
        switch operation {
        case .accounts, .unlock: _ = try await service.accounts()
        case .codes: _ = try await service.codes()
        case .code: _ = try await service.code(for: alice)
        case .counter: _ = try await service.code(for: OATHAccountID(issuer: "Counter", name: "dave", type: .hotp))
        case .touch: _ = try await service.code(for: OATHAccountID(issuer: "Careful", name: "erin"))
        case .response: _ = try await service.response(for: alice, challenge: [1])
        case .put: try await service.put(Virtual.account("new"))
        case .rename: try await service.rename(alice, to: OATHAccountID(issuer: "Acme", name: "bob"))
        case .delete: try await service.delete(alice)
        case .conflicts: _ = try await service.conflicts(with: alice)
        case .reset: try await service.reset()
        case .password:
            try await service.setAccessKey(try await Virtual.password("hunter3", service))
            _ = try await service.accounts()
        case .remove:
            try await service.removeAccessKey()
            _ = try await service.accounts()
        case .damaged: _ = try await service.damagedAccounts()
        }
    }

    private static func key(_ operation: Operation) async throws -> VirtualKey {
        let key = VirtualKey(.demonstration())
        guard [.unlock, .remove].contains(operation) else { return key }
        let owner = try await Virtual.open(key)
        try await owner.setAccessKey(try await Virtual.password("hunter2", owner))
        await owner.rest()
        return key
    }

    /// Runs an operation with a fault at one exchange after the other, until it goes through without meeting it.
    private static func interrupt(
        _ operation: Operation, _ fault: FaultPlan.Fault, expecting isExpected: (OATHError) -> Bool
    ) async throws {
        for number in 1...40 {
            let key = try await Self.key(operation)
            let plan = FaultPlan([FaultPlan.Rule(.at(number), fault)])
            do throws(OATHError) {
                let service = try await Virtual.open(key, plan: plan)
                do { try await run(operation, service) } catch let error as OATHError { throw error } catch {
                    Issue.record("\(operation) at exchange \(number): \(error)")
                }
                let exchanges = await service.statistics.exchanges
                await service.rest()
                if exchanges < number {
                    #expect(number > 1)
                    return
                }
            } catch {
                // After a reset only the key's new challenge is read.
                let cause = if case .unfinished(.reset, let cause) = error { cause } else { error }
                #expect(isExpected(cause), "\(operation) at exchange \(number): \(error)")
            }
        }
        Issue.record("\(operation) takes more than 40 exchanges")
    }

    @Test(arguments: Operation.allCases)
    func removed(_ operation: Operation) async throws {
        try await Self.interrupt(operation, .remove(back: nil)) { $0 == .card(.link(.removed)) }
    }

    @Test(arguments: Operation.allCases)
    func truncated(_ operation: Operation) async throws {
        for count in [0, 1, 2, 3] {
            try await Self.interrupt(operation, .truncate(count)) { _ in true }
        }
    }

    @Test(arguments: Operation.allCases)
    func endless(_ operation: Operation) async throws {
        for withData in [false, true] {
            try await Self.interrupt(operation, .endless(withData: withData)) {
                if case .card(.endlessReply) = $0 { true } else { false }
            }
        }
    }

    @Test(arguments: Operation.allCases)
    func refused(_ operation: Operation) async throws {
        for status: StatusWord in [.aborted, .memoryFailure, .securityStatusNotSatisfied, .unknownClass] {
            try await Self.interrupt(operation, .status(status)) { _ in true }
        }
    }

    @Test(arguments: Operation.allCases)
    func reset(_ operation: Operation) async throws {
        try await Self.interrupt(operation, .reset) { $0 == .card(.link(.reset)) }
    }
}
