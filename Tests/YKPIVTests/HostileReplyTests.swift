// SPDX-License-Identifier: Apache-2.0

import Testing
import YKCrypto
import YKPIV
import YKProtocols
import YKTestSupport
import YKTransport
import YKVirtualKey
import YKWire
import YKX509

/// Cards that lie: nothing but an error may come of it.
struct HostileReplyTests {
    static let metadataReplies = [
        "01", "0101", "010107", "01010702020101", "0102070704008101ff", "01010704058103010203", "0101ff0602",
        "0101ff060103",
        "01011104038601ff", "010111040486020405", "0101e00404860201020304", "7f", "ff", "01820fff", "0180",
        "0101070481",
        "010107040a810101820700010203040506",
    ]

    @Test(arguments: HostileReplyTests.metadataReplies)
    func metadata(_ hex: String) async throws {
        let service = try await ScriptedLink.service([0xF7: try bytes(hex) + [0x90, 0x00]])
        _ = try? await service.metadata(of: .authentication)
        _ = try? await service.metadata(of: PIVReference.pin)
        _ = try? await service.managementKeyMetadata()
        _ = try? await service.fingerprintMetadata()
        _ = try? await service.sign(.message([1]), .authentication)
        _ = try? await service.report()
        try await expect(service.metadata(of: .puk), is: nil)
    }

    static let replies = [
        "", "00", "7c", "7c00", "7c0282", "7c028200", "7c0482020102", "7c82ffff", "7c048003010203", "7f4900",
        "7f49028600",
        "7f490486020405", "7f490981048001020382", "53", "5300", "5302ffff", "53820fff", "530430820000", "7e00", "3000",
        "30820400", "30033001", "618104ff",
    ]

    @Test(arguments: HostileReplyTests.replies)
    func everyCommand(_ hex: String) async throws {
        let reply = try bytes(hex) + [0x90, 0x00]
        let all: [UInt8: [UInt8]] = [
            0x47: reply, 0x87: reply, 0xCB: reply, 0xF8: reply, 0xF9: reply, 0x20: reply, 0xDB: [0x90, 0],
            0xF7: [0x6D, 0x00],
        ]
        let service = try await ScriptedLink.service(all)
        _ = try? await service.serial()
        for slot in [PIVSlot.authentication, .attestation] {
            _ = try? await service.generateKey(slot, .p256)
            _ = try? await service.generateKey(slot, .rsa2048)
            _ = try? await service.generateKey(slot, .ed25519)
            _ = try? await service.attest(slot)
            _ = try? await service.certificate(slot)
            _ = try? await service.publicKey(slot)
        }
        _ = try? await service.verifyFingerprint(wantsTemporaryPIN: true)
        _ = try? await service.chuid()
        _ = try? await service.updateCHUID()
        _ = try? await service.administration()
        _ = try? await service.report(.all)
        _ = try? await service.object(.discovery)
        for algorithm in PIVAlgorithm.known {
            _ = try? await service.sign(.message([1]), .authentication, algorithm: algorithm)
            _ = try? await service.decrypt([1], .authentication, padding: .pkcs1, algorithm: algorithm)
            let size = algorithm.modulusSize ?? 1
            await #expect(throws: PIVError.self) {
                try await service.decrypt(
                    [UInt8](repeating: 1, count: size), .authentication, padding: .oaep(.sha1), algorithm: algorithm)
            }
        }
        await #expect(throws: PIVError.self) { try await service.authenticate(with: .defaultKey()) }
        await #expect(throws: PIVError.self) {
            try await service.derive(with: .x25519([1, 2]), .authentication, algorithm: .x25519)
        }
        await #expect(throws: PIVError.self) {
            try await service.sign(.message([1]), .authentication, algorithm: .rsa2048)
        }
    }

    @Test(
        arguments: [
            0x6300, 0x63C0, 0x63CF, 0x6581, 0x6700, 0x6982, 0x6983, 0x6984, 0x6985, 0x6986, 0x6A80, 0x6A81, 0x6A82,
            0x6A84,
            0x6A86, 0x6A88, 0x6B00, 0x6D00, 0x6E00, 0x6F00, 0x0000, 0xFFFF,
        ] as [UInt16])
    func everyStatus(_ status: UInt16) async throws {
        let word = [UInt8(status >> 8), UInt8(status & 0xFF)]
        let service = try await ScriptedLink.service(otherwise: word, [:])
        let p256 = try PrivateKey(.p256, scalar: Secret([UInt8](repeating: 1, count: 32)))
        let calls: [@Sendable (PIVService) async throws -> Void] = [
            { try await $0.verify(pin()) }, { try await $0.changePIN(from: pin(), to: pin()) },
            { try await $0.changePUK(from: pin(), to: pin()) }, { try await $0.unblockPIN(puk: pin(), newPIN: pin()) },
            { try await $0.setRetries(pin: 1, puk: 1) }, { try await $0.authenticate(with: .defaultKey()) },
            { try await $0.authenticate(withProtectedKeyOf: pin()) },
            { try await $0.setManagementKey(.defaultKey(), type: .tripleDES) },
            { _ = try await $0.generateKey(.authentication, .p256) },
            { _ = try await $0.importKey(p256, .authentication) },
            { try await $0.moveKey(from: .authentication, to: .signature) }, { try await $0.deleteKey(.signature) },
            { _ = try await $0.attest(.authentication) }, { _ = try await $0.certificate(.authentication) },
            { try await $0.putObject(.chuid, [1]) }, { _ = try await $0.object(.chuid) }, { try await $0.forgetPIN() },
            { _ = try await $0.sign(.message([1]), .authentication, algorithm: .p256) },
            { _ = try await $0.publicKey(.authentication) }, { try await $0.resetBlocked() },
            { _ = try await $0.verifyFingerprint() }, { _ = try await $0.findAlgorithm(.authentication) },
            { try await $0.makeCapability() }, { try await $0.deleteCertificate(.authentication) },
        ]
        for call in calls {
            await #expect(throws: PIVError.self) { try await call(service) }
        }
        try await expect(service.serial(), is: nil)
    }

    @Test func repliesThatNeverEnd() async throws {
        let link = ScriptedLink { command in
            command[1] == 0xFD ? [5, 7, 1, 0x90, 0] : command[1] == 0xA4 ? [0x90, 0] : [1, 0x61, 0]
        }
        let service = try await PIVService.open(CardChannel(link: link, environment: .still))
        await #expect(throws: PIVError.card(.endlessReply(during: "GET DATA"))) {
            try await service.object(.chuid)
        }
    }

    private func open(
        _ answer: @escaping @Sendable ([UInt8]) throws(LinkError) -> [UInt8]
    ) async throws(PIVError) {
        let channel = CardChannel(link: ScriptedLink(answer: answer), environment: .still)
        await (try PIVService.open(channel)).rest()
    }

    @Test func cardsWithoutPIV() async throws {
        await #expect(throws: PIVError.card(.appletMissing(.piv))) { try await open { _ in [0x6A, 0x82] } }
        await #expect(throws: PIVError.card(.link(.removed))) {
            try await open { command throws(LinkError) in
                if command[1] == 0xFD { throw LinkError.removed }
                return [0x90, 0]
            }
        }
    }

    @Test func bentCertificates() async throws {
        let service = try await Bench().open()
        let der = try await service.certificate(.attestation).der
        for index in der.indices {
            for change: UInt8 in [0x01, 0x80, 0xFF] {
                var bent = der
                bent[index] ^= change
                _ = try? X509Certificate(der: bent)
            }
            _ = try? X509Certificate(der: Array(der.prefix(index)))
        }
        #expect(throws: WireError.self) { try X509Certificate(der: der + [0]) }
    }
}
