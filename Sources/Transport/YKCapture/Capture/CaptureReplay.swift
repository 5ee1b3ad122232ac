// SPDX-License-Identifier: Apache-2.0

import Synchronization
import YKProtocols
public import YKTransport
import YKWire

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

extension CaptureReplay {
    /// Returns the reply of the next unused exchange with the same bytes outside the masked ranges, or else of the next
    /// unused command with the same meaning, regardless of its length encoding and of how command and reply were split.
    /// The search starts after the last match and wraps around.
    func lookedUpReply(to bytes: [UInt8]) throws(LinkError) -> [UInt8] {
        try state.withLock { state throws(LinkError) in
            let exact = unused(state) { $0.command.masked($0.mask) == bytes.masked($0.mask) }
            guard let command = try? APDU(decoding: bytes) else { return try take(exact, bytes, &state) }
            switch state.cards.take(command, bytes, isRecorded: exact != nil) {
            case .piece(let piece): return piece
            case .part:
                return try exact.map { hit throws(LinkError) in try take(hit, bytes, &state) } ?? [0x90, 0x00]
            case .command(let whole, let isCutAnew):
                if let exact, !isCutAnew { return try take(exact, bytes, &state) }
                if let reply = try meant(whole, command, bytes, &state) { return reply }
                if let hit = unused(state, { $0.command.isSameCommand(as: command) }) {
                    return try take(hit, bytes, &state)
                }
                if let reply = selected(command, bytes, &state) { return reply }
                return try take(nil, bytes, &state)
            }
        }
    }

    /// Returns the latest recorded answer to the selection of an application, by any part of its identifier and any
    /// number of times. A program that finds PIV selected does not select it, so PIV's own commands count as a
    /// selection.
    private func selected(_ command: APDU, _ bytes: [UInt8], _ state: inout State) -> [UInt8]? {
        guard command.isSelection, let aid = CardVocabularies.known.selected(by: command)?.aid else { return nil }
        let position = state.position
        let found = transactions.filter {
            $0.isWhole && $0.command.isSelection && CardVocabularies.known.selected(by: $0.command)?.aid == aid
        }
        if let hit = found.last(where: { $0.asked < position }) ?? found.first {
            return state.cards.give(hit.reply, to: command, bytes)
        }
        let isPresumed = transactions.contains {
            CardVocabularies.known.owner(of: $0.command, data: $0.command.data)?.aid == aid
        }
        return isPresumed ? [0x90, 0x00] : nil
    }

    /// Returns the reply of the matching exchange; throws if there is none.
    private func take(_ hit: Int?, _ bytes: [UInt8], _ state: inout State) throws(LinkError) -> [UInt8] {
        guard let hit, case .exchange(_, let reply) = capture.events[hit].kind else {
            let reason = "the recording has no unused exchange with this command"
            throw .replay(mismatch(past: state.position, actual: bytes, reason))
        }
        state.used[hit] = true
        state.position = hit + 1
        try requireResult(hit)
        return reply
    }

    /// Returns the reply to a command with the same meaning as a recorded one, in the form that the host asked for.
    private func meant(
        _ whole: APDU, _ command: APDU, _ bytes: [UInt8], _ state: inout State
    ) throws(LinkError) -> [UInt8]? {
        let (position, used) = (state.position, state.used)
        let candidates = transactions.filter { $0.isWhole && !used[$0.asked] }
        let sorted = candidates.filter { $0.asked >= position } + candidates.filter { $0.asked < position }
        guard let hit = sorted.first(where: { $0.matches(whole) }) else { return nil }
        for event in hit.events { state.used[event] = true }
        state.position = hit.asked + 1
        for event in hit.events { try requireResult(event) }
        return state.cards.give(hit.reply, to: command, bytes)
    }

    /// Finds the first unused matching exchange, starting at the position and wrapping around.
    private func unused(
        _ state: State, _ matches: (_ exchange: (command: [UInt8], mask: [Capture.Event.Mask])) -> Bool
    ) -> Int? {
        let count = capture.events.count
        for step in 0..<count {
            let index = (state.position + step) % count
            guard !state.used[index], case .exchange(let command, _) = capture.events[index].kind else { continue }
            if matches((command, capture.events[index].commandMask)) { return index }
        }
        return nil
    }
}

extension [UInt8] {
    /// Whether two exchanges have the same command as recorded.
    fileprivate func isSameCommand(as other: APDU) -> Bool {
        guard count >= 4, self[1] == other.ins, let mine = try? APDU(decoding: self) else { return false }
        return mine.meaning == other.meaning
    }
}

extension CaptureReplay {
    /// Whether an exchange repeats a command that was already sent to the selected application, and gets the same
    /// reply.
    ///
    /// A channel caches such replies, so a strict replay skips the repeated commands of older recordings. Only commands
    /// that the vocabulary declares repeatable count (`CardVocabulary.persistence`).
    func isRepeatedQuestion(_ index: Int) -> Bool {
        guard let command = command(at: index) else { return false }
        var start = index
        while start > 0 {
            start -= 1
            if self.command(at: start)?.isSelection == true { break }
        }
        guard let selection = self.command(at: start), selection.isSelection,
            let vocabulary = CardVocabularies.known.selected(by: selection), vocabulary.persistence(of: command) != nil
        else { return false }
        return capture.events[start..<index].contains { $0.kind == capture.events[index].kind }
    }

    private func command(at index: Int) -> APDU? {
        guard case .exchange(let bytes, _) = capture.events[index].kind else { return nil }
        return try? APDU(decoding: bytes)
    }
}
