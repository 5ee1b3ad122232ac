// SPDX-License-Identifier: Apache-2.0

import Testing
import YKCrypto
import YKOATH
import YKTestSupport
import YKTransport
import YKVirtualKey
import YKWire

/// Passwords: set, give, change, remove, get wrong.
struct AccessTests {
    @Test func locksAndUnlocks() async throws {
        let key = VirtualKey(.demonstration())
        let owner = try await Virtual.open(key)
        try await owner.setAccessKey(try await Virtual.password("hunter2", owner))
        #expect(await owner.info.hasPassword)
        try await expect(owner.accounts().count, is: 7)
        await owner.rest()

        let service = try await Virtual.open(key)
        #expect(await service.info.isLocked)
        await #expect(throws: OATHError.locked) { try await service.accounts() }
        await #expect(throws: OATHError.locked) { try await service.code(for: Virtual.account("x").id) }
        try await service.unlock(with: try await Virtual.password("hunter2", service))
        #expect(await !service.info.isLocked)
        try await expect(service.accounts().count, is: 7)
        try await service.removeAccessKey()
        try await expect(service.accounts().count, is: 7)
        #expect(await !service.info.hasPassword)
        await service.rest()
        #expect(try await !Virtual.open(key).info.hasPassword)
    }

    @Test func aWrongPasswordCanBeCorrected() async throws {
        let key = VirtualKey(.demonstration())
        let owner = try await Virtual.open(key)
        try await owner.setAccessKey(try await Virtual.password("hunter2", owner))
        await owner.rest()
        let service = try await Virtual.open(key)
        for _ in 0..<3 {
            await #expect(throws: OATHError.wrongPassword) {
                try await service.unlock(with: try await Virtual.password("hunter3", service))
            }
            #expect(await service.info.isLocked)
        }
        try await service.unlock(with: try await Virtual.password("hunter2", service))
        try await expect(service.accounts().count, is: 7)
        await #expect(throws: OATHError.wrongPassword) {
            try await service.unlock(with: try await Virtual.password("hunter3", service))
        }
        try await expect(service.accounts().count, is: 7, "the key that worked is used again")
    }

    @Test func unlockingWithoutAPasswordDoesNothing() async throws {
        let service = try await Virtual.open(VirtualKey(.demonstration()))
        let before = await service.statistics.exchanges
        try await service.unlock(with: AccessKey(rawKey: Secret([1, 2, 3])))
        await expect(service.statistics.exchanges, is: before)
    }

    @Test func anEmptyPasswordIsNeverUsed() {
        #expect(throws: OATHError.emptyPassword) { _ = try AccessKey(password: Secret([]), salt: [1]) }
    }

    @Test func derivesTheKeyOfTheRecording() throws {
        let salt = try Hex.decode("e949e9f9110a381b")
        let key = try AccessKey(password: Secret(utf8: "hunter2"), salt: salt)
        expect(Hex.encode(key.copyBytes()), is: "6e9b7cac319d61f2cb5a4711286c1fbe")
        expect(Hex.encode(key.copy().copyBytes()), is: "6e9b7cac319d61f2cb5a4711286c1fbe")
    }

    @Test func unlocksAgainAfterAnotherProgram() async throws {
        let key = VirtualKey(.demonstration())
        let first = try await Virtual.open(key)
        try await first.setAccessKey(try await Virtual.password("hunter2", first))
        try await expect(first.accounts().count, is: 7)
        await first.rest()
        let second = try await Virtual.open(key)
        await second.rest()
        try await expect(first.accounts().count, is: 7)
        await first.rest()
        await #expect(throws: OATHError.locked) { try await second.accounts() }
    }

    @Test func anImpostorIsNotBelieved() async throws {
        let link = ScriptedLink(atr: ScriptedLink.unknown) { command in
            switch command[1] {
            case 0xA4:
                [0x79, 3, 5, 2, 4, 0x71, 8, 1, 2, 3, 4, 5, 6, 7, 8, 0x74, 8, 1, 2, 3, 4, 5, 6, 7, 8, 0x90, 0x00]
            case 0xA3: [0x75, 0x14] + [UInt8](repeating: 7, count: 20) + [0x90, 0x00]
            default: [0x90, 0x00]
            }
        }
        let service = try await OATHService.open(CardChannel(link: link, environment: environment()))
        let error = await #expect(throws: OATHError.self) {
            try await service.unlock(with: AccessKey(rawKey: Secret([1, 2, 3])))
        }
        guard case .notAuthentic = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(await service.info.isLocked)
    }
}
