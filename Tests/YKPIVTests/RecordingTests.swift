// SPDX-License-Identifier: Apache-2.0

import Glibc
import Testing
import YKCapture
import YKCrypto
import YKPIV
import YKTestSupport
import YKTransport
import YKWire
import YKX509

/// The recordings under `captures/piv`: of a card that is no YubiKey, and of other programs on the virtual key.
struct RecordingTests {
    private func capture(_ name: String) throws -> Capture { try Recordings.capture("piv/\(name)") }

    private func open(_ name: String) async throws -> PIVService {
        let capture = try capture(name)
        let replay = CaptureReplay(capture, mode: .lookup)
        return try await PIVService.open(
            CardChannel(link: replay.link(), environment: replay.replaying(ServiceEnvironment())))
    }

    @Test func reportsWhatWasRead() async throws {
        let service = try await open("canokey-short")
        let report = try await service.report()
        #expect(report.identity.version == FirmwareVersion(5, 7, 0) && !report.identity.isYubiKey)
        #expect(report.identity.supports(.metadata) == nil && report.identity.warnings.isEmpty)
        expect(report.serial, is: 0)
        #expect(report.pin?.triesLeft == 3 && report.pin?.isDefault == true)
        #expect(report.managementKey?.type == .tripleDES && report.managementKey?.isDefault == true)
        expect(report.discovery?.hasGlobalPIN, is: false)
        expect(report.slots.map(\.slot).prefix(3), is: [.authentication, .signature, .keyManagement])
        let first = try #require(try report.slots[0].certificate?.get())
        expect(first.subject.description, is: "CN=ykit lab 9a")
        expect(first.publicKey, is: report.slots[0].metadata?.publicKey)
        #expect(first.isSigned(by: try #require(first.publicKey)))
        let second = try #require(try report.slots[1].certificate?.get())
        expect(second.publicKey, is: report.slots[1].metadata?.publicKey)
        expect(report.slots[1].metadata?.algorithm, is: .rsa2048)
        #expect(second.isSigned(by: try #require(second.publicKey)))
    }

    @Test func countsTheRecordedTries() async throws {
        let service = try await open("canokey-pin-errors")
        await #expect(throws: PIVError.wrong(.pin, triesLeft: 2)) { try await service.verify(pin("000000")) }
        try await service.verify(pin())
    }

    @Test func makesTheRecordedSignature() async throws {
        let service = try await open("canokey-sign-9a")
        try await service.verify(pin())
        let digest = try bytes("3fc7247c8e6bdb310c55f6a0a7e6f2433cc05167d9fe6fb693b7e529fafa6e23")
        let signature = try await service.sign(.digest(digest), .authentication, algorithm: .p256)
        #expect(signature.count == 71 && signature[0] == 0x30)
    }

    @Test func givesUpOnTheEndlessReply() async throws {
        let service = try await open("canokey-getresponse-loop")
        try await expect(service.managementKeyMetadata(), is: nil)
    }

    /// What yubico-piv-tool reads is enough for the same report.
    @Test func readsWhatAStatusRead() async throws {
        let service = try await open("yubico-piv-tool-status")
        let report = try await service.report()
        #expect(report.identity.version == FirmwareVersion(5, 4, 3) && report.pin?.triesLeft == 3)
        #expect(report.chuid?.expiry == "20300101" && report.capability != nil)
        try expect(report.slots.map { try $0.certificate?.get().subject.description }, is: ["CN=recorded"])
        let asked = try capture("yubico-piv-tool-status").events.filter {
            if case .exchange = $0.kind { true } else { false }
        }
        expect(asked.count, is: 32)
    }

    @Test func readsWhatYkmanRead() async throws {
        let service = try await open("ykman-info")
        let report = try await service.report(.all)
        #expect(report.identity.version == FirmwareVersion(5, 7, 1) && report.defaults == [.pin, .puk])
        #expect(report.managementKey?.type == .aes192 && report.administration.flags == .keyStored)
        expect(report.slots.first?.metadata?.algorithm, is: .ed25519)
        let certificate = try #require(try report.slots.first?.certificate?.get())
        expect(certificate.subject.description, is: "CN=recorded")
        #expect(certificate.isSigned(by: try #require(report.slots.first?.metadata?.publicKey)))
    }

    @Test func attestsAsRecorded() async throws {
        let service = try await open("yubico-piv-tool-attest")
        let attestation = try await service.attest(.authentication)
        let device = try await service.certificate(.attestation)
        #expect(attestation.isSigned(by: try #require(device.publicKey)))
        try expect(PIVAttestation(attestation).firmware, is: FirmwareVersion(5, 4, 3))
    }

    /// PINs, management keys and the printed object are overwritten.
    @Test(arguments: ["ykman-access", "ykman-generate", "ykman-protect", "yubico-piv-tool-sign", "opensc-list-sign"])
    func keepsNoSecrets(_ name: String) throws {
        let text = try capture(name).text
        for secret in ["123456", "654321", "12345678"] {
            #expect(!text.contains(Hex.encode(Array(secret.utf8))))
        }
        #expect(try capture(name).check().isEmpty)
    }
}
