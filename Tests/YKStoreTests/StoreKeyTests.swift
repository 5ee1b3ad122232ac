// SPDX-License-Identifier: Apache-2.0

import Testing
import YKCrypto
import YKFIDO
import YKPIV
import YKTestSupport
import YKTransport
import YKVirtualKey
import YKWire

@testable import YKStore

/// Stores sealed by keys: FIDO2 with and without PIN, and PIV slots.
struct StoreKeyTests {
    private let random = SystemRandom()

    private func key(_ version: FirmwareVersion = FirmwareVersion(5, 7, 1), _ serial: UInt32 = 1) throws -> VirtualKey {
        try VirtualKey.new(version, serial: serial)
    }

    private func authenticator(_ key: VirtualKey, pin: String? = nil) async throws -> StoreAuthenticator {
        let interaction = FIDOInteraction(pin: { _ in pin.map { SharedSecret(Secret(utf8: $0)) } })
        return StoreAuthenticator(
            try await FIDOService.open(card: CardChannel(link: key.link()), interaction: interaction), random)
    }

    /// What a store's key encrypts, to tell whether it is the same key.
    private func record(_ key: StoreKey) throws -> StoreRecord {
        try key.seal(Secret(utf8: "seed"), id: "1", service: "test", ["n": 1])
    }

    private func opens(_ record: StoreRecord, _ key: StoreKey) throws -> Bool {
        try key.open(record, service: "test").value == Secret(utf8: "seed")
    }

    @Test func aSecretHoldsTheBytesOfAnyCollection() {
        let bytes: [UInt8] = [1, 2, 3, 4]
        let reversed: ReversedCollection<[UInt8]> = bytes.reversed()
        expect(Secret(reversed).copyBytes(), is: [4, 3, 2, 1])
        expect(Secret(bytes[1...]).copyBytes(), is: [2, 3, 4])
        #expect(Secret([UInt8]()).copyBytes().isEmpty)
    }

    @Test(arguments: [
        FirmwareVersion(5, 2, 4), FirmwareVersion(5, 4, 3), FirmwareVersion(5, 7, 1), FirmwareVersion(5, 8, 0),
    ])
    func opensWithAKeyWithoutPIN(_ version: FirmwareVersion) async throws {
        let (device, other) = (try key(version), try key(version, 2))
        let storeKey = try StoreKey(random)
        let seal = try await authenticator(device).seal(
            storeKey, name: "key", isDiscoverable: false, added: 1, besides: [])
        guard case .fido(_, _, false, false) = seal.means else {
            Issue.record("\(seal.means)")
            return
        }
        #expect(seal.kind == "fido2" && !seal.isSoftware && seal.slot == nil && seal.item == nil)
        let record = try record(storeKey)
        let (opened, which) = try await authenticator(device).open([seal])
        #expect(try opens(record, opened) && which == seal)
        await #expect(throws: StoreError.notThisKey) { _ = try await authenticator(other).open([seal]) }
        await #expect(throws: StoreError.notThisKey) { _ = try await authenticator(device).open([]) }
        await #expect(throws: StoreError.duplicateKey("again")) {
            _ = try await authenticator(device).seal(
                storeKey, name: "again", isDiscoverable: false, added: 1, besides: [seal])
        }
        // A spare opens the same store; the key's own credential is found among several.
        let spare = try await authenticator(other).seal(
            storeKey, name: "spare", isDiscoverable: false, added: 2, besides: [seal])
        #expect(try await opens(record, authenticator(other).open([seal, spare]).0))
        try await expect(authenticator(device).open([spare, seal]).1, is: seal)
        // A PIN that is set later does not change which secret the key gives.
        try await FIDOService.open(card: CardChannel(link: device.link())).setPIN(SharedSecret(Secret(utf8: "12345")))
        #expect(try await opens(record, authenticator(device, pin: "12345").open([seal]).0))
    }

    @Test func asksForThePIN() async throws {
        let device = try key()
        try await FIDOService.open(card: CardChannel(link: device.link())).setPIN(SharedSecret(Secret(utf8: "12345")))
        let storeKey = try StoreKey(random)
        let seal = try await authenticator(device, pin: "12345").seal(
            storeKey, name: "key", isDiscoverable: true, added: 1, besides: [])
        guard case .fido(_, _, true, true) = seal.means else {
            Issue.record("\(seal.means)")
            return
        }
        #expect(try await opens(try record(storeKey), authenticator(device, pin: "12345").open([seal]).0))
        await #expect(throws: StoreError.self) { _ = try await authenticator(device, pin: "54321").open([seal]) }
        await #expect(throws: StoreError.self) { _ = try await authenticator(device).open([seal]) }
        await #expect(throws: StoreError.self) {
            _ = try await authenticator(device, pin: "54321").seal(
                storeKey, name: "x", isDiscoverable: false, added: 1, besides: [])
        }
        // Once its credential is deleted from the key, no copy of the store opens; deleting it again does no harm.
        try await authenticator(device, pin: "12345").delete([seal])
        try await authenticator(device, pin: "12345").delete([seal])
        await #expect(throws: StoreError.notThisKey) { _ = try await authenticator(device, pin: "12345").open([seal]) }
        await #expect(throws: StoreError.self) { try await authenticator(device, pin: "54321").delete([seal]) }
    }

    @Test func needsACredentialWithASecret() async throws {
        let device = try VirtualKey.new(.neo)
        let storeKey = try StoreKey(random)
        await #expect(throws: StoreError.cannotSeal) {
            _ = try await authenticator(device).seal(
                storeKey, name: "neo", isDiscoverable: false, added: 1, besides: [])
        }
    }

    private func slot(_ device: VirtualKey, _ algorithm: PIVAlgorithm) async throws -> PublicKey {
        let service = try await PIVService.open(CardChannel(link: device.link()))
        try await service.authenticate(with: .defaultKey())
        return try await service.generateKey(.keyManagement, algorithm)
    }

    private func verified(_ device: VirtualKey) async throws -> PIVService {
        let service = try await PIVService.open(CardChannel(link: device.link()))
        try await service.verify(PIVPIN(Secret(utf8: "123456")))
        return service
    }

    @Test(arguments: [PIVAlgorithm.rsa1024, .p256]) func opensWithAPIVSlot(_ algorithm: PIVAlgorithm) async throws {
        let (device, other) = (try key(), try key(FirmwareVersion(5, 7, 1), 2))
        let publicKey = try await slot(device, algorithm)
        let storeKey = try StoreKey(random)
        let seal = try StoreSeal.piv(storeKey, .keyManagement, publicKey, name: "slot", added: 1, random)
        #expect(seal.kind == "piv" && seal.slot == .keyManagement && seal.isSealed(for: publicKey))
        #expect(StoreSeal(seal.json) == seal && seal.credential == nil)
        #expect(try await opens(try record(storeKey), seal.open(verified(device), algorithm)))
        let otherKey = try await slot(other, algorithm)
        #expect(!seal.isSealed(for: otherKey))
        await #expect(throws: StoreError.self) { _ = try await seal.open(try verified(other), algorithm) }
        // Without the PIN the card refuses.
        let locked = try await PIVService.open(CardChannel(link: device.link()))
        await #expect(throws: StoreError.self) { _ = try await seal.open(locked, algorithm) }
        let passphrase = try StoreSeal(
            storeKey, under: Secret(utf8: "s"), .secretService(item: String(repeating: "0", count: 32)), name: "k",
            added: 1, random)
        #expect(!passphrase.isSealed(for: publicKey))
        await #expect(throws: StoreError.notThisKey) { _ = try await passphrase.open(locked, algorithm) }
    }

    @Test func refusesSlotsThatCannotSeal() async throws {
        let publicKey = try await slot(try key(), .p384)
        let storeKey = try StoreKey(random)
        let error = #expect(throws: StoreError.self) {
            _ = try StoreSeal.piv(storeKey, .keyManagement, publicKey, name: "slot", added: 1, random)
        }
        guard case .unfitSlot? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test func saysThatThereAreNoRandomBytes() async throws {
        #expect(throws: StoreError.random) { _ = try StoreKey(FailingRandom()) }
        let storeKey = try StoreKey(random)
        for draws in 0...2 {
            #expect(throws: StoreError.random) {
                _ = try StoreSeal.secretService(storeKey, name: "k", added: 1, FailingRandom(after: draws))
            }
        }
        #expect(throws: StoreError.random) {
            _ = try StoreSeal.passphrase(storeKey, Secret(utf8: "p"), name: "k", added: 1, FailingRandom())
        }
        let publicKey = try await slot(try key(), .p256)
        for draws in 0...1 {
            #expect(throws: StoreError.random) {
                _ = try StoreSeal.piv(
                    storeKey, .keyManagement, publicKey, name: "k", added: 1, FailingRandom(after: draws))
            }
        }
    }
}
