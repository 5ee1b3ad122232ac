// SPDX-License-Identifier: Apache-2.0

import Testing
import YKCrypto
import YKFIDO
import YKInventory
import YKKeys
import YKOATH
import YKOTP
import YKOpenPGP
import YKPIV
import YKTestSupport
import YKTransport
import YKVirtualKey
import YKWire

/// What is read from keys.
struct ReaderTests {
    @Test func aNewKey() async throws {
        let reading = try await Bench().read()
        #expect(reading.inventory.items.isEmpty && reading.problems.isEmpty)
        expect(reading.inventory.gaps, is: [Inventory.Gap(.passkey, .notRequested)])
        #expect(reading.inventory.key.serial == "1" && reading.inventory.key.version == "5.7.1")
        expect(reading.inventory.time, is: 1000)
    }

    @Test("OATH secrets are compared by two codes of RFC 6238")
    func oath() async throws {
        let bench = try Bench()
        try await bench.put("alice")
        try await bench.put("counter", type: .hotp)
        try await bench.put("touched", touch: true)
        let items = try await bench.read().inventory.items(.oath)
        // The six last digits of the vectors for 59 and 1111111109.
        #expect(items.map(\.mark) == ["287082 081804", nil, nil] || items.first?.mark == "287082 081804")
        expect(Set(items.map(\.target)), is: ["Acme:alice", "Acme:counter", "Acme:touched"])
        let again = try await bench.read().inventory
        expect(again.items(.oath), is: items, "reading advances no counter")
        let other = try Bench(serial: 2)
        try await other.put("alice", secret: "another secret")
        try await other.put("counter", type: .hotp)
        let comparison = InventoryComparison(of: again, with: try await other.read().inventory)
        let verdicts = Dictionary(uniqueKeysWithValues: comparison.rows.map { ($0.item.name, $0.verdict) })
        expect(verdicts, is: ["Acme:alice": .different, "Acme:counter": .named, "Acme:touched": .missing])
    }

    @Test("Slots are compared by one challenge")
    func slots() async throws {
        func bench(_ serial: UInt32, _ secrets: [OTPSlot: UInt8]) async throws -> Bench {
            let bench = try Bench(serial: serial)
            let service = try await bench.key().open(OTPService.self)
            for (slot, byte) in secrets {
                let secret = Secret([UInt8](repeating: byte, count: 20))
                try await service.program(slot, .hmac(key: SharedSecret(secret), needsTouch: false))
            }
            await service.close()
            return bench
        }
        let first = try await bench(1, [.one: 1, .two: 2]).read()
        #expect(first.problems.isEmpty && first.inventory.items(.otp).map(\.target) == ["slot 1", "slot 2"])
        let second = try await bench(2, [.two: 2]).read()
        let compared = InventoryComparison(of: first.inventory, with: second.inventory)
        expect(compared.rows.map(\.verdict), is: [.missing, .same])
    }

    @Test func lockedAccounts() async throws {
        let bench = try Bench()
        try await bench.put("alice")
        let service = try await bench.key().open(OATHService.self)
        try await service.setAccessKey(AccessKey(password: Secret(utf8: "x"), salt: await service.info.salt))
        await service.close()
        let locked = try await bench.read()
        #expect(locked.inventory.gaps.contains(Inventory.Gap(.oath, .locked)) && locked.problems.count == 1)
        expect(locked.problems.first?.error as? OATHError, is: .locked)
        var reader = InventoryReader(try await bench.key())
        reader.unlock = { service in
            try await service.unlock(with: AccessKey(password: Secret(utf8: "x"), salt: await service.info.salt))
        }
        try await expect(reader.read(at: 1).inventory.items(.oath).count, is: 1)
    }

    @Test func cards() async throws {
        let bench = try Bench()
        let signing = try await bench.generate(.authentication, subject: "CN=alice")
        try await bench.generate(.keyManagement)
        try await bench.generate(try #require(PIVSlot.retired.first), subject: "CN=age")
        let openPGP = try await bench.key().open(OpenPGPService.self)
        try await openPGP.verify(Secret(utf8: "12345678"), for: .administration)
        _ = try await openPGP.generateKey(.signature, .ed25519)
        await openPGP.close()
        let inventory = try await bench.read().inventory
        let piv = inventory.items(.piv)
        expect(piv.map(\.name), is: ["slot 9a, CN=alice", "slot 9d, no certificate", "slot 82, CN=age"])
        #expect(piv[0].target == "9a CN=alice" && piv[1].target == piv[1].mark)
        expect(piv[0].mark, is: Hex.encode(HashAlgorithm.sha256.hash(signing.subjectPublicKeyInfo)))
        let age = inventory.items(.age)
        #expect(age.count == 1 && age[0].name.hasPrefix("age1tag1") && age[0].mark == age[0].name)
        let keys = inventory.items(.openPGP)
        #expect(keys.count == 1 && keys[0].mark?.count == 40 && keys[0].name.hasPrefix("signature "))
        // A second key has certificates and keys of its own.
        let other = try Bench(serial: 2)
        try await other.generate(.authentication, subject: "CN=alice")
        try await other.generate(.keyManagement)
        try await other.generate(try #require(PIVSlot.retired.first))
        let comparison = InventoryComparison(of: inventory, with: try await other.read().inventory)
        expect(comparison.rows.map(\.verdict), is: [.own, .missing, .missing, .own, .missing])
    }

    @Test func passkeys() async throws {
        let bench = try Bench()
        try await bench.setPIN()
        #expect(try await bench.read(pin: Bench.pin).inventory.items.isEmpty)
        try await bench.register("example.com", isResident: true)
        try await bench.register("ssh:work", isResident: true)
        try await bench.register("example.org")
        let inventory = try await bench.read(pin: Bench.pin).inventory
        #expect(inventory.gaps.isEmpty)
        let passkey = try #require(inventory.items(.passkey).first)
        #expect(passkey.target == "example.com 616c696365" && passkey.relyingParty == "example.com")
        expect(passkey.name, is: "alice at example.com")
        let ssh = try #require(inventory.items(.ssh).first)
        #expect(ssh.target == "ssh:work" && ssh.name.hasPrefix("SHA256:") && inventory.items.count == 2)
        let other = try Bench(serial: 2)
        try await other.setPIN()
        try await other.register("example.com", isResident: true)
        let second = try await other.read(pin: Bench.pin).inventory
        expect(InventoryComparison(of: inventory, with: second).rows.map(\.verdict), is: [.own, .missing])
        #expect(InventoryComparison(of: inventory, with: inventory).isCovered)
        #expect(
            InventoryComparison(of: inventory, with: try await other.read().inventory).rows.map(\.verdict)
                == [.unknown, .missing])
    }

    @Test("a wrong PIN ends the reading; without a PIN the passkeys are missing") func noPIN() async throws {
        let bench = try Bench()
        let new = try await bench.read(pin: Bench.pin)
        expect(new.inventory.gaps, is: [Inventory.Gap(.passkey, .failed)])
        expect(new.problems.first?.error as? FIDOError, is: .pinNotSet)
        try await bench.setPIN()
        do {
            _ = try await bench.read(pin: "654321")
            Issue.record("read")
        } catch FIDOError.wrongPIN {}
        let service = try await bench.fido()
        try await expect(service.pinRetries().count, is: 7, "one try was used")
    }

    @Test("a key without CTAP2, and one without card applications")
    func otherKeys() async throws {
        let neo = try await Bench(.neo).read(pin: Bench.pin)
        #expect(neo.inventory.items(.passkey).isEmpty)
        let security = try await Bench(.securityKey).read()
        #expect(security.inventory.items.isEmpty && security.problems.isEmpty)
    }

    @Test func unexpectedAnswers() async throws {
        let bench = try Bench()
        try await bench.generate(.authentication)
        var reader = InventoryReader(
            try await bench.key(FaultPlan(parsing: "on 00a4: status 6f00; on 00ca: status 6f00; on 00fd: status 6f00")))
        reader.references = []
        let reading = try await reader.read(at: 1)
        #expect(!reading.problems.isEmpty && reading.inventory.gaps.contains { $0.reason == .failed })
    }
}
