// SPDX-License-Identifier: Apache-2.0

import Glibc
import Testing
import YKCapture
import YKProtocols
import YKTestSupport
import YKTransport
import YKWire

@Suite struct RecordReplayTests {
    private let folder = TemporaryFolder()
    private var path: String { folder.path + "/session.jsonl" }
    private let soon = Deadline.after(.seconds(60))

    /// A card for which everything is fine.
    private static func card(_ log: ScriptedLink.Log = .init(), isLost: [Bool] = []) -> ScriptedLink {
        ScriptedLink(atr: ScriptedLink.silentATR, maxCommandLength: 3000, log: log, isLost: isLost) {
            $0[1] == 0xA4 ? [0x79, 0x01, 0x05, 0x90, 0x00] : [0x90, 0x00]
        }
    }

    /// What a service does: selects, draws randomness, verifies a PIN, asks for the time.
    private static func session(
        _ link: sending any CardLink, _ environment: ServiceEnvironment
    ) throws -> (Int64, [UInt8]) {
        let channel = CardChannel(link: link, environment: environment)
        _ = try channel.select(.piv)
        let challenge = try environment.random.draw(4, secret: false)
        let secret = try environment.random.draw(2, secret: true)
        expect(secret.count, is: 2)
        _ = try channel.transmit(APDU(ins: 0x20, p2: 0x80, data: Array("987654".utf8) + [0xFF, 0xFF]))
        _ = try channel.transmit(APDU(ins: 0x87, data: challenge))
        return (environment.clock.now, challenge)
    }

    private func record(keepsSecrets: Bool = false) throws -> (Int64, [UInt8]) {
        let recorder = Recorder(path: path, keepsSecrets: keepsSecrets, note: "test", clock: FixedClock(1_700_000_000))
        let environment = recorder.recording(ServiceEnvironment(random: CountingRandom(from: 1)))
        return try Self.session(try recorder.recording(Self.card()), environment)
    }

    private func text() -> String { String(decoding: Recordings.read(path), as: UTF8.self) }

    @Test(arguments: CaptureReplay.Mode.allCases)
    func whatWasRecordedIsReplayed(mode: CaptureReplay.Mode) throws {
        let (time, challenge) = try record()
        let capture = try Capture(parsing: Recordings.read(path))
        #expect(capture.header.reader == "scripted" && capture.header.maxCommandLength == 3000)
        #expect(capture.header.note == "test" && capture.header.clock == 1_700_000_000)
        #expect(capture.header.random == [1, 2, 3, 4, 0, 0] && !capture.header.keepsSecrets)
        let replay = CaptureReplay(capture, mode: mode)
        let replayed = try Self.session(replay.link(), replay.replaying(ServiceEnvironment()))
        #expect(replayed.0 == time && replayed.1 == challenge)
        #expect(throws: Never.self) { try replay.finish() }
    }

    @Test func noSecretIsInTheFile() throws {
        _ = try record()
        #expect(!text().contains(Hex.encode(Array("987654".utf8))))
        #expect(text().contains("\"cm\":[[5,8]]"))
        #expect(folder.mode("session.jsonl") == 0o600 && folder.names == ["session.jsonl"])
    }

    @Test func secretsAreKeptOnRequestOnly() throws {
        _ = try record(keepsSecrets: true)
        #expect(text().contains(Hex.encode(Array("987654".utf8))))
        let capture = try Capture(parsing: Recordings.read(path))
        #expect(capture.header.keepsSecrets)
        let hidden = capture.redacted()
        #expect(!hidden.text.contains(Hex.encode(Array("987654".utf8))) && !hidden.header.keepsSecrets)
        // Secret randomness is kept apart, so that it can be played back and taken out.
        #expect(capture.header.random?.suffix(2) == [0, 0] && capture.header.secretRandom?.count == 2)
        #expect(hidden.header.secretRandom == nil && hidden.header.random == capture.header.random)
        let replayed = CaptureReplay(capture, mode: .strict).replaying(ServiceEnvironment()).random
        _ = try replayed.draw(4, secret: false)
        try expect(replayed.draw(2, secret: true), is: capture.header.secretRandom)
        try expect(Capture(parsing: Array(hidden.text.utf8)).redacted().text, is: hidden.text)
    }

    @Test func aFileThatIsThereIsRefused() throws {
        _ = try record()
        let before = text()
        #expect(throws: LinkError.self) { try record() }
        expect(text(), is: before)
        symlink("/tmp/ykit-nowhere", folder.path + "/link")
        let recorder = Recorder(path: folder.path + "/link")
        #expect(throws: LinkError.self) { try recorder.recording(Self.card()) }
        #expect(access("/tmp/ykit-nowhere", F_OK) != 0)
        let elsewhere = Recorder(path: "/nonexistent/file")
        #expect(throws: LinkError.self) { try elsewhere.recording(Self.card()) }
    }

    @Test func aFileBesideItIsNotTouched() throws {
        let recorder = Recorder(path: path, clock: FixedClock(0))
        let link = try recorder.recording(Self.card())
        let neighbour = "\(path).new-\(getpid())-0"
        close(open(neighbour, O_CREAT | O_WRONLY, 0o644))
        _ = try recorder.recording(ServiceEnvironment()).random.draw(3, secret: false)
        #expect(folder.names.count == 2 && folder.mode("session.jsonl") == 0o600)
        try expect(Capture(parsing: Recordings.read(path)).header.random?.count, is: 3)
        link.close()
    }

    @Test func everyEventIsInTheFileAtOnce() throws {
        let recorder = Recorder(path: path, clock: FixedClock(0))
        let link = try recorder.recording(Self.card(isLost: [false, true]))
        try expect(Capture(parsing: Recordings.read(path)).events.map(\.kind), is: [.link(.powerOn, why: nil)])
        _ = try link.begin(deadline: soon)
        _ = try link.exchange([0, 0xA1, 0, 0], deadline: soon)
        try expect(Capture(parsing: Recordings.read(path)).events.count, is: 2)
        #expect(try link.begin(deadline: soon))
        try link.reset(.warm, deadline: soon)
        link.end()
        link.close()
        let events = try Capture(parsing: Recordings.read(path)).events
        expect(events.map(\.isExchange), is: [false, true, false, false, false])
        expect(events.compactMap(\.milliseconds), is: events.compactMap(\.milliseconds).sorted())
        expect(link.identity.reader, is: "scripted")
    }

    @Test func failuresAreRecordedAndReplayed() throws {
        let recorder = Recorder(path: path, clock: FixedClock(0))
        let link = try recorder.recording(ScriptedLink(["9000"]))
        _ = try link.exchange([0, 1, 0, 0], deadline: soon)
        #expect(throws: LinkError.removed) { try link.exchange([0, 2, 0, 0], deadline: soon) }
        let capture = try Capture(parsing: Recordings.read(path))
        expect(capture.events.last?.kind, is: .link(.removed, why: nil))
        let replay = CaptureReplay(capture)
        let again = replay.link()
        _ = try again.exchange([0, 1, 0, 0], deadline: soon)
        #expect(throws: LinkError.removed) { try again.exchange([0, 2, 0, 0], deadline: soon) }

        let other = Recorder(path: folder.path + "/failed.jsonl", clock: FixedClock(0))
        let broken = try other.recording(
            ScriptedLink(atr: ScriptedLink.silentATR) { _ throws(LinkError) in throw .timedOut("the reply") })
        #expect(throws: LinkError.timedOut("the reply")) { try broken.exchange([0, 1, 0, 0], deadline: soon) }
        let failed = CaptureReplay(try Capture(parsing: Recordings.read(folder.path + "/failed.jsonl"))).link()
        #expect(throws: LinkError.self) { try failed.exchange([0, 1, 0, 0], deadline: soon) }
    }

    // MARK: Replay

    private func capture(_ lines: String...) throws -> Capture {
        let header = "{\"capture\":1,\"link\":\"card\"}"
        return try Capture(parsing: Array(([header] + lines).joined(separator: "\n").utf8))
    }

    @Test func theFirstDifferenceFailsWithItsLine() throws {
        let replay = CaptureReplay(
            try capture(
                "{\"c\":\"00a4040007a000000527210100\",\"r\":\"9000\"}", "{\"c\":\"00a1000000\",\"r\":\"9000\"}"))
        let link = replay.link()
        _ = try link.exchange(Hex.decode("00a4040007a000000527210100"), deadline: soon)
        let error = #expect(throws: LinkError.self) { try link.exchange([0, 0xA4, 0, 1], deadline: soon) }
        guard case .replay(let mismatch) = error else {
            Issue.record("no mismatch: \(String(describing: error))")
            return
        }
        #expect(mismatch.line == 3 && mismatch.actual == [0, 0xA4, 0, 1])
        expect(mismatch.expected, is: [0, 0xA1, 0, 0, 0])
        #expect(mismatch.expectedWords == "OATH LIST" && mismatch.actualWords == "OATH CALCULATE ALL")
    }

    @Test func aMismatchShowsNoSecret() throws {
        let replay = CaptureReplay(try capture("{\"c\":\"00a1000000\",\"r\":\"9000\"}"))
        let pin = try Hex.decode("0020008006313233343536")
        let error = #expect(throws: LinkError.self) { try replay.link().exchange(pin, deadline: soon) }
        guard case .replay(let mismatch) = error else { return }
        expect(mismatch.actual, is: [0, 0x20, 0, 0x80, 6, 0, 0, 0, 0, 0, 0])
        let ended = CaptureReplay(try capture())
        let past = #expect(throws: LinkError.self) { try ended.link().exchange(pin, deadline: soon) }
        guard case .replay(let second) = past else { return }
        #expect(second.line == 1 && second.actualWords == "VERIFY of 80")
    }

    @Test func whatIsLeftOverFails() throws {
        let replay = CaptureReplay(try capture("{\"e\":\"power-on\"}", "{\"c\":\"00a10000\",\"r\":\"9000\"}"))
        let error = #expect(throws: LinkError.self) { try replay.finish() }
        guard case .replay(let mismatch) = error else { return }
        #expect(mismatch.line == 3 && mismatch.expected == [0, 0xA1, 0, 0])
        var random = try capture()
        random.header.random = [1, 2]
        #expect(throws: LinkError.self) { try CaptureReplay(random).finish() }
        #expect(throws: Never.self) { try CaptureReplay(random, mode: .lookup).finish() }
    }

    @Test func theFirstDifferenceEndsAStrictReplayForGood() throws {
        let exchange = Capture.Event(.exchange(command: [0, 0xA1, 0, 0, 0], reply: [0x90, 0]))
        let replay = CaptureReplay(Capture(header: .init(link: .card), events: [exchange]))
        let link = replay.link()
        let deadline = Deadline.after(.seconds(1))
        let first = #expect(throws: LinkError.self) { try link.exchange([0, 0xA2, 0, 0, 0], deadline: deadline) }
        let second = #expect(throws: LinkError.self) { try link.exchange([0, 0xA1, 0, 0, 0], deadline: deadline) }
        let last = #expect(throws: LinkError.self) { try replay.finish() }
        #expect(first != nil && first == second && first == last)
    }

    @Test func randomnessRunsOut() throws {
        var capture = try capture()
        capture.header.random = [1, 2, 3]
        let strict = CaptureReplay(capture).replaying(ServiceEnvironment()).random
        try expect(strict.draw(2, secret: false), is: [1, 2])
        #expect(throws: LinkError.self) { try strict.draw(2, secret: false) }
        let lookup = CaptureReplay(capture, mode: .lookup).replaying(ServiceEnvironment()).random
        try expect(lookup.draw(5, secret: false).prefix(3), is: [1, 2, 3])
    }

    @Test func lookupTakesEachExchangeOnceAndForgivesTheForm() throws {
        let replay = CaptureReplay(
            try capture(
                "{\"c\":\"00a10000\",\"r\":\"019000\"}", "{\"c\":\"00a1000000\",\"r\":\"029000\"}",
                "{\"c\":\"0020008002000000\",\"r\":\"039000\",\"cm\":[[5,2]]}"), mode: .lookup)
        let link = replay.link()
        try expect(link.exchange([0, 0x20, 0, 0x80, 2, 7, 7, 0], deadline: soon), is: [3, 0x90, 0])
        try expect(link.exchange([0, 0xA1, 0, 0, 0], deadline: soon), is: [2, 0x90, 0])
        try expect(link.exchange([0, 0xA1, 0, 0, 0, 0, 0], deadline: soon), is: [1, 0x90, 0])
        #expect(throws: LinkError.self) { try link.exchange([0, 0xA1, 0, 0, 0], deadline: soon) }
        #expect(throws: LinkError.self) { try link.exchange([0xFF], deadline: soon) }
        try link.reset(.cold, deadline: soon)
        #expect(try !link.begin(deadline: soon))
        link.end()
        link.close()
    }

    @Test func aPowerCycleLosesTheSelection() throws {
        let replay = CaptureReplay(
            try capture(
                "{\"e\":\"power-on\"}", "{\"c\":\"00a10000\",\"r\":\"9000\"}", "{\"e\":\"power-off\"}",
                "{\"e\":\"power-on\"}", "{\"c\":\"00a10000\",\"r\":\"9000\"}", "{\"e\":\"reset\"}", "{\"e\":\"odd\"}"))
        let link = replay.link()
        #expect(try !link.begin(deadline: soon))
        _ = try link.exchange([0, 0xA1, 0, 0], deadline: soon)
        #expect(try link.begin(deadline: soon))
        #expect(throws: LinkError.self) { try link.reset(.warm, deadline: soon) }
        _ = try link.exchange([0, 0xA1, 0, 0], deadline: soon)
        try link.reset(.warm, deadline: soon)
        #expect(throws: LinkError.self) { try link.reset(.warm, deadline: soon) }
        #expect(throws: LinkError.self) { try link.exchange([0, 0xA1, 0, 0], deadline: soon) }
    }

    @Test func theClockFollowsTheEvents() throws {
        var capture = try capture(
            "{\"c\":\"00a10000\",\"r\":\"9000\",\"ms\":10}", "{\"e\":\"time\",\"ms\":2500.5}",
            "{\"c\":\"00a10000\",\"r\":\"9000\",\"ms\":31000}")
        capture.header.clock = 1000
        let replay = CaptureReplay(capture)
        let clock = replay.replaying(ServiceEnvironment()).clock
        expect(clock.now, is: 1000)
        let link = replay.link()
        _ = try link.exchange([0, 0xA1, 0, 0], deadline: soon)
        expect(clock.now, is: 1002)
        _ = try link.exchange([0, 0xA1, 0, 0], deadline: soon)
        expect(clock.now, is: 1031)
    }

    @Test func theWorldOfAnotherToolsSessionIsRecovered() throws {
        let short = CaptureReplay(try Recordings.capture("oath/canokey-short"), mode: .lookup)
        expect(short.replaying(ServiceEnvironment(clock: FixedClock(5))).clock.now, is: 0x037F_2EAA * 30)
        let list = CaptureReplay(try Recordings.capture("oath/canokey-password-list"), mode: .lookup)
        let environment = list.replaying(ServiceEnvironment(clock: FixedClock(5)))
        expect(environment.clock.now, is: 5)
        expect(Hex.encode(try environment.random.draw(8, secret: false)), is: "7975c06c9ef6523f")
        let select = "{\"c\":\"00a4040007a0000005272101\",\"r\":\"9000\"}"
        let odd = try capture(select, "{\"c\":\"00a20000107104362f3a61740800000000000000ff\",\"r\":\"9000\"}")
        expect(CaptureReplay(odd).replaying(ServiceEnvironment()).clock.now, is: 0xFF * 6)
    }
}
