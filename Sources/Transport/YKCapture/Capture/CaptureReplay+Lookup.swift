// SPDX-License-Identifier: Apache-2.0

import Synchronization
import YKProtocols
import YKTransport
import YKWire

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
