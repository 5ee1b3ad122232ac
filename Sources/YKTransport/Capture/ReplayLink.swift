// SPDX-License-Identifier: Apache-2.0

import Synchronization
import YKWire

/// A card that answers from a recording.
final class ReplayLink: CardLink {
    private let replay: Replay
    let identity: CardIdentity

    init(replay: Replay) {
        self.replay = replay
        let header = replay.capture.header
        identity = CardIdentity(reader: header.reader ?? "replay", atr: header.atr ?? [])
    }

    func exchange(_ command: [UInt8], deadline: Deadline) throws(LinkError) -> [UInt8] {
        switch replay.mode {
        case .strict: try replay.strictReply(to: command)
        case .lookup: try replay.lookedUpReply(to: command)
        }
    }

    func begin(deadline: Deadline) throws(LinkError) -> Bool { false }
    func end() {}
    func close() {}

    func reset(_ kind: CardReset, deadline: Deadline) throws(LinkError) {
        guard replay.mode == .strict else { return }
        try replay.skip(to: .reset)
    }
}

extension Replay {
    /// The reply of the next exchange, which has to have exactly these bytes outside what was masked.
    func strictReply(to command: [UInt8]) throws(LinkError) -> [UInt8] {
        try state.withLock { state throws(LinkError) in
            while state.position < capture.events.count {
                let event = capture.events[state.position]
                state.position += 1
                switch event.kind {
                case .exchange(let expected, let reply):
                    guard expected.masked(event.commandMask) == command.masked(event.commandMask) else {
                        let reason = "the host sends something else than the recording has"
                        throw .replay(.init(line: event.line, expected: expected, actual: command, reason: reason))
                    }
                    return reply
                case .link(.removed, _): throw .removed
                case .link(.fail, let why): throw .failed(code: 0, why ?? "the recorded link failed here")
                default: continue
                }
            }
            throw .replay(.init(line: 0, actual: command, reason: "the host goes on, the recording does not"))
        }
    }

    /// The reply of the next unused exchange with the same command: the same bytes, else the same command in another
    /// form or with another Le. The search starts behind the last hit and wraps around.
    func lookedUpReply(to command: [UInt8]) throws(LinkError) -> [UInt8] {
        try state.withLock { state throws(LinkError) in
            let order = Array(capture.events.indices[state.position...]) + capture.events.indices[..<state.position]
            let unused = order.filter { !state.used.contains($0) }
            let meaning = try? APDU(decoding: command)
            let hit =
                unused.first { capture.events[$0].isExchange { $0 == command } }
                ?? unused.first { capture.events[$0].isExchange { $0.isSameCommand(as: meaning) } }
            guard let hit, case .exchange(_, let reply) = capture.events[hit].kind else {
                let reason = "the recording has no unused exchange with this command"
                throw .replay(.init(line: 0, actual: command, reason: reason))
            }
            state.used.insert(hit)
            state.position = hit + 1
            return reply
        }
    }

    /// Goes on to the next link event of this kind, which has to come before the next exchange.
    func skip(to wanted: Capture.Event.LinkEvent) throws(LinkError) {
        try state.withLock { state throws(LinkError) in
            while state.position < capture.events.count {
                let event = capture.events[state.position]
                if case .exchange(let command, _) = event.kind {
                    let reason = "the host does a \(wanted.rawValue), the recording an exchange"
                    throw .replay(.init(line: event.line, expected: command, reason: reason))
                }
                state.position += 1
                if case .link(wanted, _) = event.kind { return }
            }
            throw .replay(.init(line: 0, reason: "the host does a \(wanted.rawValue), the recording has ended"))
        }
    }
}

extension Capture.Event {
    fileprivate func isExchange(_ matches: ([UInt8]) -> Bool) -> Bool {
        guard case .exchange(let command, _) = kind else { return false }
        return matches(command)
    }
}

extension [UInt8] {
    fileprivate func isSameCommand(as other: APDU?) -> Bool {
        guard var mine = try? APDU(decoding: self), var other else { return false }
        mine.le = .none
        other.le = .none
        return mine == other
    }
}
