// SPDX-License-Identifier: Apache-2.0

import Glibc
import Testing
import YKCrypto
import YKPIV
import YKTransport
import YKWire

/// The recordings under `captures/piv`, of a card that is no YubiKey.
struct RecordingTests {
    private func open(_ name: String) async throws -> PIVService {
        let root = #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
        let capture = try Capture(parsing: try read("/\(root)/captures/piv/\(name).jsonl"))
        let replay = Replay(capture, mode: .lookup)
        return try await PIVService.open(
            CardChannel(link: replay.link(), environment: replay.replaying(Environment())))
    }

    @Test func reportsWhatWasRead() async throws {
        let service = try await open("canokey-short")
        let report = try await service.report()
        #expect(report.identity.version == Version(5, 7, 0) && !report.identity.isYubiKey)
        #expect(report.identity.supports(.metadata) == nil && report.identity.warnings.isEmpty)
        #expect(report.serial == 0)
        #expect(report.pin?.triesLeft == 3 && report.pin?.isDefault == true)
        #expect(report.managementKey?.type == .tripleDES && report.managementKey?.isDefault == true)
        #expect(report.discovery?.hasGlobalPIN == false)
        #expect(report.slots.map(\.slot).prefix(3) == [.authentication, .signature, .keyManagement])
        let first = try #require(try report.slots[0].certificate?.get())
        #expect(first.subject == "CN=ykit lab 9a")
        #expect(first.publicKey == report.slots[0].metadata?.publicKey)
        #expect(first.isSigned(by: try #require(first.publicKey)))
        let second = try #require(try report.slots[1].certificate?.get())
        #expect(second.publicKey == report.slots[1].metadata?.publicKey)
        #expect(report.slots[1].metadata?.algorithm == .rsa2048)
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
        await #expect(throws: PIVError.self) { try await service.managementKeyMetadata() }
    }
}
