// SPDX-License-Identifier: Apache-2.0

import Glibc
import Testing
import YKCapture
import YKTestSupport
import YKTransport
import YKWire

/// A recording that cannot be written on is told of; what the key does goes on.
@Suite struct IncompleteRecordingTests {
    private let folder = TemporaryFolder()
    private var path: String { folder.path + "/session.jsonl" }
    private let soon = Deadline.after(.seconds(60))

    private static func card(_ log: ScriptedLink.Log = .init()) -> ScriptedLink {
        ScriptedLink(atr: ScriptedLink.silentATR, maxCommandLength: 3000, log: log, isLost: []) { _ in [0x90, 0x00] }
    }

    @Test("a folder that vanished ends the recording, not the session")
    func vanished() throws {
        let log = ScriptedLink.Log()
        let recorder = Recorder(path: path, clock: FixedClock(1_700_000_000))
        let environment = recorder.recording(ServiceEnvironment(random: CountingRandom(from: 1)))
        #expect(!recorder.hasBegun)
        let link = try recorder.recording(Self.card(log))
        _ = try link.exchange([0, 1, 2, 3], deadline: soon)
        #expect(recorder.problem == nil && recorder.hasBegun)
        let elsewhere = folder.path + ".away"
        expect(rename(folder.path, elsewhere), is: 0)
        try expect(environment.random.draw(4, secret: false), is: [1, 2, 3, 4])
        try expect(link.exchange([0, 9, 9, 9], deadline: soon), is: [0x90, 0x00])
        expect(rename(elsewhere, folder.path), is: 0)
        expect(log.lines.count { $0.hasPrefix("00") }, is: 2)
        guard case .capture(let why) = recorder.problem else {
            Issue.record("no problem")
            return
        }
        #expect(why.contains(path))
        try expect(Capture(parsing: Recordings.read(path)).events.count, is: 2)
    }

    @Test("a key that is plugged in again goes on in the same recording")
    func reinserted() throws {
        let recorder = Recorder(path: path, clock: FixedClock(1_700_000_000))
        for command: [UInt8] in [[0, 1, 2, 3], [0, 4, 5, 6]] {
            let link = try recorder.recording(Self.card())
            _ = try link.exchange(command, deadline: soon)
            link.close()
        }
        expect(recorder.problem, is: nil)
        let commands = try Capture(parsing: Recordings.read(path)).events.compactMap { event -> [UInt8]? in
            if case .exchange(let command, _) = event.kind { command } else { nil }
        }
        expect(commands, is: [[0, 1, 2, 3], [0, 4, 5, 6]])
    }

    @Test("what a killed program left behind is removed by the next one, that of a living one stays")
    func leftovers() throws {
        let target = folder.path + "/secret.pem"
        let (dead, living) = (target + ".new-999999999-0", target + ".new-\(getppid())-0")
        for name in [dead, living] {
            let file = try #require(fopen(name, "w"))
            fclose(file)
        }
        var file = try NewFile(beside: target)
        try file.append([1, 2, 3])
        try file.replace()
        #expect(access(dead, F_OK) != 0 && access(living, F_OK) == 0 && access(target, F_OK) == 0)
    }
}
