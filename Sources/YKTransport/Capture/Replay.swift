// SPDX-License-Identifier: Apache-2.0

import Synchronization
import YKWire

/// Where a replay and its recording part: the line and the bytes that were expected and sent.
public struct ReplayMismatch: Hashable, Sendable {
    /// The line of the capture, 0 when it is past the end.
    public let line: Int
    /// The bytes that the recording has there, when it has a command there.
    public let expected: [UInt8]?
    /// The bytes that the host sent, when it sent any.
    public let actual: [UInt8]?
    /// What happened, in a few words.
    public let reason: String

    /// Makes a mismatch.
    public init(line: Int, expected: [UInt8]? = nil, actual: [UInt8]? = nil, reason: String) {
        self.line = line
        self.expected = expected
        self.actual = actual
        self.reason = reason
    }
}

/// Plays a capture back: the recorded key, its randomness and its clock.
public final class Replay: Sendable {
    /// How commands are matched with the recording.
    public enum Mode: String, Sendable, CaseIterable {
        /// Exactly the recorded bytes in the recorded order, and nothing left unread.
        case strict
        /// The next unused exchange with the same command; for recordings made with another tool.
        case lookup
    }

    struct State {
        var position = 0
        var used: Set<Int> = []
        var randomOffset = 0
    }

    /// The recording.
    public let capture: Capture
    /// How commands are matched.
    public let mode: Mode
    let state = Mutex(State())

    /// Plays a capture from its start.
    public init(_ capture: Capture, mode: Mode = .strict) {
        self.capture = capture
        self.mode = mode
    }

    /// The recorded card as a link.
    public func link() -> sending any CardLink { ReplayLink(replay: self) }

    /// The environment with the recorded randomness and clock.
    public func replaying(_ environment: Environment) -> Environment {
        var environment = environment
        environment.random = ReplayedRandom(replay: self)
        environment.clock = ReplayedClock(replay: self, usual: environment.clock)
        return environment
    }

    /// Throws unless everything was read: in strict mode every exchange has to be used.
    public func finish() throws(LinkError) {
        guard mode == .strict else { return }
        let position = state.withLock { $0.position }
        for event in capture.events.dropFirst(position) {
            if case .exchange(let command, _) = event.kind {
                throw .replay(
                    .init(line: event.line, expected: command, reason: "the recording goes on, the host does not"))
            }
        }
    }
}

private struct ReplayedClock: WallClock {
    let replay: Replay
    let usual: any WallClock

    var now: Int64 {
        guard let start = replay.capture.header.clock else { return replay.capture.recoveredClock ?? usual.now }
        let position = replay.state.withLock { $0.position }
        let elapsed = replay.capture.events.prefix(position).last { $0.milliseconds != nil }?.milliseconds ?? 0
        return start.addingReportingOverflow(Int64(exactly: (elapsed / 1000).rounded(.down)) ?? 0).partialValue
    }
}

private struct ReplayedRandom: RandomSource {
    let replay: Replay

    func draw(_ count: Int, secret: Bool) throws(LinkError) -> [UInt8] {
        let recorded = replay.capture.header.random ?? replay.capture.recoveredRandom
        let offset = replay.state.withLock { state in
            defer { state.randomOffset += count }
            return state.randomOffset
        }
        let bytes = Array(recorded.dropFirst(offset).prefix(count))
        if bytes.count == count { return bytes }
        guard replay.mode == .lookup else {
            throw .replay(.init(line: 1, reason: "the host draws more random bytes than the recording has"))
        }
        return bytes + SystemRandom().draw(count - bytes.count, secret: secret)
    }
}
