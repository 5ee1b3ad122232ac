// SPDX-License-Identifier: Apache-2.0

import Synchronization
public import YKTransport

/// Replays a capture: the recorded key, its randomness and its clock.
public final class CaptureReplay: Sendable {
    /// How commands are matched against the recording.
    public enum Mode: String, Sendable, CaseIterable {
        /// Exactly the recorded bytes in the recorded order, and nothing left unread.
        case strict
        /// The next unused exchange or message with the same request, however it is split; for recordings made by
        /// another tool.
        case lookup
    }

    struct State {
        var mismatch: ReplayMismatch?
        var httpMismatch: ReplayMismatch?
        var position = 0
        var used: [Bool]
        var randomOffset = 0
        var secretOffset = 0
        var cards = CardLookup()
    }

    /// The recording.
    public let capture: Capture
    /// How commands are matched.
    public let mode: Mode
    let state: Mutex<State>
    /// The times and the randomness recovered from the commands, if the header has none.
    private let inputs: Capture.Inputs
    /// The recorded card transactions, for lookup.
    let transactions: [CardTransaction]

    /// Starts at the beginning of a capture.
    public init(_ capture: Capture, mode: Mode = .strict) {
        self.capture = capture
        self.mode = mode
        state = Mutex(State(used: [Bool](repeating: false, count: capture.events.count)))
        let isTold = mode == .strict && capture.header.clock != nil && capture.header.random != nil
        inputs = isTold ? Capture.Inputs() : Capture.Inputs(of: capture)
        transactions = mode == .lookup ? CardTransaction.all(in: capture) : []
    }

    /// The recorded card as a link.
    public func link() -> sending any CardLink { ReplayLink(replay: self) }

    /// The environment with the recorded randomness and clock.
    public func replaying(_ environment: ServiceEnvironment) -> ServiceEnvironment {
        var environment = environment
        environment.random = ReplayedRandom(replay: self)
        environment.clock = ReplayedClock(replay: self, fallback: environment.clock)
        environment.pause = { _, _ in }
        environment.isRedactedReplay = !capture.header.keepsSecrets
        return environment
    }

    /// Throws unless the replay is complete: in strict mode, every exchange and every recorded random byte must have
    /// been used, without a mismatch.
    public func finish() throws(LinkError) {
        guard mode == .strict else { return }
        if let mismatch = state.withLock({ $0.mismatch }) { throw .replay(mismatch) }
        let (position, drawn) = state.withLock { ($0.position, $0.randomOffset) }
        for (index, event) in capture.events.enumerated().dropFirst(position)
        where event.isDoneByHost && !isRepeatedQuestion(index) {
            throw .replay(mismatch(at: index, actual: nil, "the host stopped before the end of the recording"))
        }
        if let random = capture.header.random, drawn < random.count {
            let reason = "the host draws \(drawn) random bytes, the recording has \(random.count)"
            throw .replay(.init(line: 1, reason: reason))
        }
    }

    /// The time of day in the recorded session.
    fileprivate var now: Int64? {
        let position = state.withLock { state in
            // The host read the clock here, after the time had advanced.
            while mode == .strict, state.position < capture.events.count,
                case .link(.time, _) = capture.events[state.position].kind
            { state.position += 1 }
            return state.position
        }
        let recovered = inputs.time(from: position)
        guard let start = capture.header.clock, mode == .strict || recovered == nil else { return recovered }
        let elapsed = capture.events.prefix(position).last { $0.milliseconds != nil }?.milliseconds ?? 0
        return start.addingReportingOverflow(Int64(exactly: (elapsed / 1000).rounded(.down)) ?? 0).partialValue
    }

    fileprivate func draw(_ count: Int, secret: Bool) throws(LinkError) -> [UInt8] {
        let count = max(0, count)
        let recorded = capture.header.random ?? inputs.random
        let (offset, secretOffset) = state.withLock { state in
            defer {
                state.randomOffset += count
                if secret { state.secretOffset += count }
            }
            return (state.randomOffset, state.secretOffset)
        }
        if secret, let kept = capture.header.secretRandom, kept.count - secretOffset >= count {
            return Array(kept[secretOffset..<secretOffset + count])
        }
        let bytes = Array(recorded.dropFirst(offset).prefix(count))
        if bytes.count == count { return bytes }
        guard mode == .lookup else {
            throw .replay(.init(line: 1, reason: "the host draws more random bytes than the recording has"))
        }
        return bytes + SystemRandom().draw(count - bytes.count, secret: secret)
    }
}

private struct ReplayedClock: WallClock {
    let replay: CaptureReplay
    let fallback: any WallClock

    var now: Int64 { replay.now ?? fallback.now }
}

private struct ReplayedRandom: RandomSource {
    let replay: CaptureReplay

    func draw(_ count: Int, secret: Bool) throws(LinkError) -> [UInt8] { try replay.draw(count, secret: secret) }
}
