// SPDX-License-Identifier: Apache-2.0

import Glibc
import Synchronization
import Testing
import YKCapture
import YKCrypto
import YKFIDO
import YKTestSupport
import YKTransport
import YKVirtualKey
import YKWire

/// Sessions with secrets, recorded with these overwritten, then replayed strictly: every byte that the host sends is the
/// same, but for what was overwritten.
struct RecordingTests {
    /// How a session goes over the wire.
    enum Carrier: String, CaseIterable {
        case hid
        case card
    }

    private let interaction = FIDOInteraction(pin: { _ in secret("12345") })

    private func open(_ key: VirtualKey, _ carrier: Carrier, _ recorder: Recorder) async throws -> FIDOService {
        let environment = recorder.recording(.instant)
        if carrier == .hid {
            return try await FIDOService.open(
                hid: recorder.recording(key.reportLink()), environment: environment, interaction: interaction)
        }
        let channel = CardChannel(link: try recorder.recording(key.link()), environment: environment)
        return try await FIDOService.open(card: channel, interaction: interaction)
    }

    private func open(_ replay: CaptureReplay, _ carrier: Carrier) async throws -> FIDOService {
        if carrier == .hid {
            return try await FIDOService.open(
                hid: replay.reportLink(), environment: replay.replaying(.instant), interaction: interaction)
        }
        let channel = CardChannel(link: replay.link(), environment: replay.replaying(.instant))
        return try await FIDOService.open(card: channel, interaction: interaction)
    }

    /// Records a session, replays it strictly, and gives the recording and what came out each time.
    private func recorded<Value: Sendable>(
        _ carrier: Carrier, _ bench: Bench? = nil, _ session: (FIDOService) async throws -> Value
    ) async throws -> (capture: Capture, made: Value) {
        let file = RecordingFile(carrier.rawValue)
        let key = try (bench ?? Bench()).key
        let made = try await session(try await open(key, carrier, Recorder(path: file.path)))
        let capture = try file.capture()
        #expect(capture.header.link.rawValue == carrier.rawValue && capture.check().isEmpty)
        return (capture, made)
    }

    private func replayed<Value: Sendable>(
        _ carrier: Carrier, _ bench: Bench? = nil, _ session: (FIDOService) async throws -> Value
    ) async throws -> (capture: Capture, made: Value, again: Value) {
        let (capture, made) = try await recorded(carrier, bench, session)
        let replay = CaptureReplay(capture)
        let again = try await session(try await open(replay, carrier))
        try replay.finish()
        return (capture, made, again)
    }

    @Test(arguments: Carrier.allCases)
    func aPIN(carrier: Carrier) async throws {
        let (_, made, again) = try await replayed(carrier) { service in
            try await service.setPIN(secret("12345"))
            var request = registration()
            request.isResident = true
            let made = try await service.register(request)
            let all = try await service.assert(AssertionRequest(rpID: "example.com", clientDataHash: hash))
            return [made.response.authenticatorData.bytes] + all.map(\.response.signature)
        }
        expect(made, is: again)
    }

    /// The secrets that a key makes are not in the recording, and a replay does not make any up.
    @Test(arguments: Carrier.allCases)
    func hmacSecret(carrier: Carrier) async throws {
        let salts = try #require(HMACSecretSalts([UInt8](repeating: 7, count: 32), [UInt8](repeating: 8, count: 32)))
        func session(_ service: FIDOService) async throws -> [[UInt8]] {
            try await service.setPIN(secret("12345"))
            var request = registration()
            request.isResident = true
            request.extensions.createsHMACSecret = true
            _ = try await service.register(request)
            var ask = AssertionRequest(rpID: "example.com", clientDataHash: hash)
            ask.extensions.salts = salts
            let first = try await service.assert(ask)
            let second = try await service.assert(ask)
            return (first + second).map { $0.extensions.secrets?.first.value.copyBytes() ?? [] }
        }
        let (capture, made) = try await recorded(carrier, nil, session)
        #expect(made.count == 2 && made[0] == made[1] && made[0].count == 32)
        let replay = CaptureReplay(capture)
        await #expect { try await session(try await open(replay, carrier)) } throws: {
            "\($0)".contains("the output of hmac-secret is a secret, which was overwritten in the recording")
        }
        for bytes in [made[0], salts.first] { #expect(!capture.text.contains(Hex.encode(bytes.prefix(8)))) }
    }

    @Test(arguments: Carrier.allCases)
    func credentialManagement(carrier: Carrier) async throws {
        let (_, made, again) = try await replayed(carrier) { service in
            try await service.setPIN(secret("12345"))
            var request = registration()
            request.isResident = true
            _ = try await service.register(request)
            let party = try await service.relyingParties()[0]
            return try await service.credentials(of: party).map(\.user.id)
        }
        #expect(made == again && made.count == 1)
    }
}

extension RecordingTests {
    /// The token that lasts is not in the recording, nor what it could be made from; what was listed with it is.
    @Test(arguments: Carrier.allCases)
    func persistentToken(carrier: Carrier) async throws {
        var profile = DeviceProfile(serial: 1)
        profile.fido = FIDOFeatures(version: .v23)
        let tokens = Mutex<[[UInt8]]>([])
        let (capture, made, again) = try await replayed(
            carrier, Bench(key: VirtualKey(try .new(profile)), pins: Bench.PINs(nil))
        ) { service in
            try await service.setPIN(secret("12345"))
            var request = registration()
            request.isResident = true
            _ = try await service.register(request)
            let token = try await service.persistentToken()
            tokens.withLock { $0.append(token.secret.value.copyBytes()) }
            let party = try await service.relyingParties()[0]
            let stored = try await service.credentials(of: party)
            try await service.delete(stored[0].id)
            return stored.map(\.user.id) + [party.idHash]
        }
        #expect(made == again && made.count == 2)
        let seen = tokens.withLock { $0 }
        #expect(seen.count == 2 && seen[0] != seen[1])
        for token in seen { #expect(!capture.text.contains(Hex.encode(token.prefix(8)))) }
    }
}

extension RecordingTests {
    @Test(
        "a change of the configuration is replayed from a recording made before changes were read back",
        arguments: Carrier.allCases)
    func changeThatWasNotReadBack(carrier: Carrier) async throws {
        func session(_ service: FIDOService) async throws {
            try await service.setPIN(secret("12345"))
            try await service.configure(.toggleAlwaysUV)
        }
        var (capture, _) = try await recorded(carrier, nil, session)
        let readBack = try #require(
            capture.events.lastIndex {
                switch $0.kind {
                case .written(let report): report[4] == 0x90 && report[7] == 0x04
                case .exchange(let command, _): command[1] == 0x10 && command.contains(0x04)
                default: false
                }
            })
        capture.events.removeSubrange(readBack...)
        let replay = CaptureReplay(capture, mode: .lookup)
        try await session(try await open(replay, carrier))
        try replay.finish()
    }
}

/// A file for a recording, which goes away with it.
final class RecordingFile {
    let path: String

    init(_ name: String) {
        path = "/tmp/ykit-fido-test-\(getpid())-\(name)-\(UInt32.random(in: .min ... .max)).jsonl"
    }

    deinit { unlink(path) }

    func capture() throws -> Capture { try Capture(parsing: Recordings.read(path)) }
}
