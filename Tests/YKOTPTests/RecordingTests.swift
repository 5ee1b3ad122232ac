// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import Testing
import YKCapture
import YKCrypto
import YKOTP
import YKTestSupport
import YKTransport
import YKVirtualKey
import YKWire

@Suite("Recordings of the OTP keyboard")
struct RecordingTests {
    private let secret = "000102030405060708090a0b0c0d0e0f10111213"

    private static func read(_ path: String) throws -> Capture { try Capture(parsing: Recordings.read(path)) }

    /// Records a session in which a slot is written and answers.
    private func recorded(to path: String) async throws -> Capture {
        let virtual = Virtual()
        let recorder = Recorder(path: path)
        let link = HIDOTPLink(
            try recorder.recording(virtual.key.otpReportLink()), environment: recorder.recording(virtual.environment))
        try await session(OTPService.open(link))
        return try Self.read(path)
    }

    /// A replay ends where the reply was overwritten.
    private func session(_ service: OTPService, isReplay: Bool = false) async throws {
        try await expect(service.serial(), is: 16_777_217)
        let access = OTPAccess(current: nil, new: try code(0x77))
        try await service.program(.two, .hmac(key: shared(secret), needsTouch: false), access: access)
        if isReplay {
            await #expect(throws: OTPError.self) { try await service.hmac(.two, Array("challenge".utf8)) }
            return
        }
        try await expect(service.hmac(.two, Array("challenge".utf8)).count, is: 20)
        #expect(try await service.deviceInfo().count > 10)
    }

    private func replayed(_ capture: Capture, _ mode: CaptureReplay.Mode) async throws -> CaptureReplay {
        let replay = CaptureReplay(capture, mode: mode)
        let environment = replay.replaying(ServiceEnvironment(timeout: .seconds(10)))
        try await session(OTPService.open(HIDOTPLink(replay.reportLink(), environment: environment)), isReplay: true)
        return replay
    }

    @Test("What was recorded has no secret in it, and plays in either mode")
    func replays() async throws {
        let path = "/tmp/ykit-otp-\(getpid()).jsonl"
        unlink(path)
        defer { unlink(path) }
        let capture = try await recorded(to: path)
        expect(capture.header.link, is: .hid)
        #expect(capture.check().filter(\.isError).isEmpty)
        expect(capture.redacted().events, is: capture.events)
        for event in capture.events {
            guard case .featureSet(let report) = event.kind, report[7] & 0x1F < 9 else { continue }
            #expect(report[..<7].allSatisfy { $0 == 0 })
        }
        let strict = try await replayed(capture, .strict)
        #expect(throws: LinkError.self) { try strict.finish() }
        _ = try await replayed(capture, .lookup)
    }

    @Test("A strict replay notices another command, and a session that ends early")
    func mismatches() async throws {
        let path = "/tmp/ykit-otp-mismatch-\(getpid()).jsonl"
        unlink(path)
        defer { unlink(path) }
        let replay = CaptureReplay(try await recorded(to: path))
        let environment = replay.replaying(ServiceEnvironment(timeout: .seconds(10)))
        let service = try await OTPService.open(HIDOTPLink(replay.reportLink(), environment: environment))
        await #expect(throws: OTPError.self) { try await service.deviceInfo() }
        #expect(throws: LinkError.self) { try replay.finish() }
        let lookup = CaptureReplay(replay.capture, mode: .lookup)
        let other = try await OTPService.open(HIDOTPLink(lookup.reportLink(), environment: environment))
        await #expect(throws: OTPError.self) { try await other.delete(.one) }
    }

    @Test("The narration tells frames and replies, and no secret")
    func narration() async throws {
        let path = "/tmp/ykit-otp-words-\(getpid()).jsonl"
        unlink(path)
        defer { unlink(path) }
        var narrator = Narrator()
        let words = try await recorded(to: path).events.map { narrator.narrate($0) }
        let text = words.map { ([$0.summary] + $0.details).joined(separator: "\n") }.joined(separator: "\n")
        #expect(text.contains("OTP slot frame, part 10 of 10: SERIAL"))
        #expect(text.contains("serial 16777217"))
        #expect(text.contains("CONFIGURE slot 2"))
        #expect(text.contains("OTP reply to HMAC CHALLENGE to slot 2"))
        #expect(text.contains("OTP reply to READ CONFIG"))
        #expect(words.allSatisfy { $0.isKnown })
    }

    @Test("The card's access codes and replies are overwritten as well")
    func card() async throws {
        let path = "/tmp/ykit-otp-card-\(getpid()).jsonl"
        unlink(path)
        defer { unlink(path) }
        let virtual = Virtual()
        let recorder = Recorder(path: path)
        let channel = CardChannel(
            link: try recorder.recording(virtual.key.link()), environment: recorder.recording(virtual.environment))
        let service = try await OTPService.open(CardOTPLink(channel))
        try await session(service)
        try await service.setNDEF(.standard, for: .two, access: try code(0x77))
        let capture = try Self.read(path)
        for event in capture.events {
            guard case .exchange(let command, let reply) = event.kind, command.count > 5, command[1] == 0x01 else {
                continue
            }
            #expect(!command.contains(0x77) && !Hex.encode(command).contains(secret.prefix(16)))
            if command[2] == 0x38 { expect(reply, is: [UInt8](repeating: 0, count: 20) + [0x90, 0x00]) }
        }
    }
}
