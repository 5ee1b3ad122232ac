// SPDX-License-Identifier: Apache-2.0

import Testing
import YKCrypto
import YKPIV
import YKTestSupport
import YKTransport
import YKVirtualKey
import YKWire
import YKX509

@testable import YKApproval

/// Keys of accounts in PIV slots.
struct PIVApprovalKeyTests {
    private func service(_ version: FirmwareVersion = FirmwareVersion(5, 7, 1)) async throws -> PIVService {
        let key = try VirtualKey.new(version, serial: 7)
        let service = try await PIVService.open(CardChannel(link: key.link()))
        try await service.authenticate(with: ManagementKey.defaultKey())
        return service
    }

    @Test(arguments: [FirmwareVersion(5, 2, 4), FirmwareVersion(5, 4, 3), FirmwareVersion(5, 7, 1)])
    func makesAKeyInAFreeSlotAndSigns(_ version: FirmwareVersion) async throws {
        let service = try await service(version)
        let slot = try await PIVApprovalKey.freeSlot(service)
        expect(slot.description, is: "82")
        let policies = KeyPolicies(pin: .once, touch: .cached)
        let (place, publicKey) = try await PIVApprovalKey.make(service, slot, .rsa2048, policies)
        #expect(place.slot == slot && place.keySerial == 7 && place.policies == policies)
        let attestation = try X509Certificate(der: try #require(place.attestation))
        expect(attestation.publicKey, is: publicKey)
        try await expect(PIVApprovalKey.isFree(slot, service), is: false)
        try await expect(PIVApprovalKey.freeSlot(service).description, is: "83")
        let key = try await PIVApprovalKey(service, slot, publicKey) { service in
            try await service.verify(PIVPIN(Secret(utf8: "123456")))
        }
        let signature = try await key.signed("text")
        #expect(publicKey.isValid(signature, for: Array("text".utf8), .sha256))
        let locked = try await PIVApprovalKey(service, slot, publicKey)
        try await service.forgetPIN()
        await #expect(throws: ApprovalError.self) { try await locked.sign([1]) }
    }

    @Test func neverTouchesAnothersSlot() async throws {
        let service = try await service()
        let slots = PIVSlot.retired
        _ = try await service.generateKey(slots[0], .p256)
        let (_, publicKey) = try await PIVApprovalKey.make(
            service, slots[1], .rsa2048, KeyPolicies(pin: .once, touch: .never))
        try await expect(PIVApprovalKey.freeSlot(service), is: slots[2])
        await #expect(throws: ApprovalError.otherKey(slots[0])) {
            try await PIVApprovalKey(service, slots[0], publicKey)
        }
        await #expect(throws: ApprovalError.otherKey(slots[3])) {
            try await PIVApprovalKey(service, slots[3], publicKey)
        }
        #expect(await !PIVApprovalKey.remove(slots[0], publicKey, service))
        try await expect(PIVApprovalKey.isFree(slots[0], service), is: false)
        #expect(await PIVApprovalKey.remove(slots[1], publicKey, service))
        try await expect(PIVApprovalKey.isFree(slots[1], service), is: true)
        let large = PublicKey.rsa(modulus: [UInt8](repeating: 0xFF, count: 100), exponent: [1, 0, 1])
        await #expect(throws: ApprovalError.unsupportedKey("a key type that no card supports")) {
            try await PIVApprovalKey(service, slots[1], large)
        }
    }

    /// A card whose attestations are replaced by a published one, of slot 82 of another key.
    private func replaying() async throws -> PIVService {
        let key = try VirtualKey.new(FirmwareVersion(5, 7, 1), serial: 7)
        let statement = try #require(
            PEM.contents("CERTIFICATE", in: Recordings.fixture("attestation/yubikey-5c-5-7-4-att.pem")).first)
        let link = key.link()
        var rest: [UInt8]?
        let replay = ScriptedLink(atr: ScriptedLink.extendedATR) { command throws(LinkError) in
            if command[1] == 0xF9 { rest = statement }
            guard let bytes = rest, command[1] == 0xF9 || command[1] == 0xC0 else {
                return try link.exchange(command, deadline: .after(.seconds(5)))
            }
            let part = bytes.prefix(256)
            rest = bytes.count > 256 ? Array(bytes.dropFirst(256)) : nil
            return part + (rest.map { [0x61, UInt8(min($0.count, 255))] } ?? [0x90, 0x00])
        }
        let service = try await PIVService.open(CardChannel(link: replay))
        try await service.authenticate(with: ManagementKey.defaultKey())
        return service
    }

    @Test("an attestation of another key is refused, and the new key removed")
    func foreignAttestation() async throws {
        let service = try await replaying()
        let slot = try await PIVApprovalKey.freeSlot(service)
        await #expect(throws: ApprovalError.otherKey(slot)) {
            try await PIVApprovalKey.make(service, slot, .rsa2048, KeyPolicies(pin: .once, touch: .never))
        }
        try await expect(PIVApprovalKey.isFree(slot, service), is: true)
    }

    @Test func leavesSlotsWithCertificatesAlone() async throws {
        let service = try await service()
        let slots = PIVSlot.retired
        let id = try #require(slots[0].certificateObject)
        try await service.putObject(id, [0x70, 0x01, 0x00, 0x71, 0x01, 0x00, 0xFE, 0x00])
        try await expect(PIVApprovalKey.isFree(slots[0], service), is: false)
        try await expect(PIVApprovalKey.freeSlot(service), is: slots[1])
        for slot in slots.dropFirst() { _ = try await service.generateKey(slot, .p256) }
        await #expect(throws: ApprovalError.noFreeSlot) { try await PIVApprovalKey.freeSlot(service) }
    }

    /// Firmware before 4.3 tells nothing of its slots.
    @Test func doesNotGuessWhichSlotsAreFree() async throws {
        let service = try await service(FirmwareVersion(4, 2, 6))
        try await expect(PIVApprovalKey.isFree(PIVSlot.retired[0], service), is: nil)
        await #expect(throws: ApprovalError.noFreeSlot) { try await PIVApprovalKey.freeSlot(service) }
        await #expect(throws: ApprovalError.self) {
            try await PIVApprovalKey.make(
                service, PIVSlot.retired[0], .rsa2048, KeyPolicies(pin: .once, touch: .cached))
        }
    }
}
