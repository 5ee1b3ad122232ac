// SPDX-License-Identifier: Apache-2.0

import Glibc
import Testing
import YKCrypto
import YKFIDO
import YKTransport
import YKVirtualKey
import YKWire

/// Sessions with a PIN, recorded with secrets overwritten, then replayed strictly: every byte that the host sends is
/// the same.
struct RecordingTests {
    private func session(_ service: FIDOService) async throws -> [[UInt8]] {
        try await service.setPIN(secret("12345"))
        var request = registration()
        request.isResident = true
        let made = try await service.register(request)
        let all = try await service.assert(AssertionRequest(rpID: "example.com", clientDataHash: hash))
        return [made.response.authenticatorData.bytes] + all.map(\.response.signature)
    }

    private func capture(_ path: String) throws -> Capture {
        let file = try #require(fopen(path, "r"))
        defer {
            fclose(file)
            unlink(path)
        }
        var bytes = [UInt8](repeating: 0, count: 1 << 20)
        let count = fread(&bytes, 1, bytes.count, file)
        return try Capture(parsing: Array(bytes.prefix(count)))
    }

    private let interaction = FIDOInteraction(pin: { _ in secret("12345") })

    @Test func replaysHIDExactly() async throws {
        let path = "/tmp/ykit-fido-test-\(getpid())-hid.jsonl"
        unlink(path)
        let recorder = Recorder(path: path)
        let made = try await session(
            try await FIDOService.open(
                hid: recorder.recording(try Bench().key.reportLink()), environment: recorder.recording(.instant),
                interaction: interaction))
        let capture = try capture(path)
        #expect(capture.header.link == .hid)
        let replay = Replay(capture)
        let again = try await session(
            try await FIDOService.open(
                hid: replay.reportLink(), environment: replay.replaying(.instant), interaction: interaction))
        #expect(again == made)
        try replay.finish()
    }

    @Test func replaysTheCardExactly() async throws {
        let path = "/tmp/ykit-fido-test-\(getpid())-card.jsonl"
        unlink(path)
        let recorder = Recorder(path: path)
        let link = try recorder.recording(try Bench().key.link())
        let channel = CardChannel(link: link, environment: recorder.recording(.instant))
        let made = try await session(try await FIDOService.open(card: channel, interaction: interaction))
        let replay = Replay(try capture(path))
        let replayed = CardChannel(link: replay.link(), environment: replay.replaying(.instant))
        let again = try await session(try await FIDOService.open(card: replayed, interaction: interaction))
        #expect(again == made)
        try replay.finish()
    }
}
