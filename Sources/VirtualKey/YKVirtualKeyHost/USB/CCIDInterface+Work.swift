// SPDX-License-Identifier: Apache-2.0

import YKTransport
import YKVirtualKey
import YKWire

extension CCIDInterface {
    /// Executes a command now or later, depending on faults and touches.
    mutating func perform(_ command: [UInt8], _ message: CCID.Command, at now: ContinuousClock.Instant) {
        var work = Work(head: message, command: command, lastSign: now, start: now)
        var later = faults
        switch later.next(command) {
        case .delay(let duration):
            faults = later
            work.start = now.advanced(by: duration)
        case .keepalives:
            faults = later
            work.isEndless = true
        case .drop:
            faults = later
            _ = Self.response(report) { () throws(LinkError) in try key.exchange(command) }
            (work.isEndless, work.isSilent) = (true, true)
        case let fault where fault?.isOfReader ?? true:
            faults = later
            spoiler = fault
            if let reply = attempt(command) { return finish(work, reply) }
        default: return misbehave(work)
        }
        self.work = work
        if !work.isSilent { ask(work) }
    }

    /// Applies the planned fault to a command immediately.
    private mutating func misbehave(_ work: Work) {
        let (key, report) = (key, report)
        let outcome = try? faults.play(work.command) { command in
            Self.response(report) { () throws(LinkError) in try key.exchange(command) }
                ?? ResponseAPDU(.memoryFailure).encoded
        }
        switch outcome {
        case .reply(let bytes, _): finish(work, bytes)
        case .removed(let back): absence = back.map(FaultPlan.Absence.until) ?? .forGood
        case .reset:
            release()
            tellExchange()
            say(.init(to: work.head, card: .inactive, .failed, error: .mute))
        case .silence, nil: break
        }
    }

    mutating func poll(at now: ContinuousClock.Instant) {
        guard let work, !work.isSilent else { return }
        if !work.isEndless, now >= work.start, !work.isBlockAsked, let reply = attempt(work.command) {
            self.work = nil
            finish(work, reply)
        } else if work.lastSign.duration(to: now) > (work.isEndless ? .milliseconds(5) : .seconds(1)),
            !work.isBlockAsked
        {
            self.work?.lastSign = now
            ask(work)
        }
    }

    /// Asks the host for ten times the usual time: with a block at level T=1, otherwise with a message of the reader.
    private mutating func ask(_ work: Work) {
        guard level == .t1 else {
            return say(.init(to: work.head, .moreTime, error: CCID.Failure(rawValue: 10)))
        }
        self.work?.isBlockAsked = true
        say(.init(to: work.head, data: T1Block(.supervisory(.moreTime, isResponse: false), [10]).encoded()))
    }

    /// The response; `nil` while the key waits for a touch or computes, during which the host is asked for more time.
    private func attempt(_ command: [UInt8]) -> [UInt8]? {
        Self.response(report) { () throws(LinkError) in
            if case .response(let bytes) = try key.attempt(command) { bytes } else { nil }
        }
    }

    private static func response(
        _ report: (ServedKeyEvent) -> Void, _ body: () throws(LinkError) -> [UInt8]?
    ) -> [UInt8]? {
        do { return try body() } catch {
            report(.failed(error))
            return ResponseAPDU(.memoryFailure).encoded
        }
    }

    // MARK: the levels at which the host handles the protocol

    /// Processes a T=1 block.
    mutating func take(block message: CCID.Command, at now: ContinuousClock.Instant) {
        switch blocks.take(message.data) {
        case .answer(let bytes): say(.init(to: message, data: bytes))
        case .command(let command): perform(command, message, at: now)
        case .timeGiven:
            guard var work else { return say(.init(to: message, data: blocks.repeatLast())) }
            work.head = message
            work.isBlockAsked = false
            work.lastSign = now
            self.work = work
        }
    }

    /// Processes a T=0 TPDU: a header, followed by data for the card or a request for data.
    mutating func take(tpdu message: CCID.Command, at now: ContinuousClock.Instant) {
        let tpdu = message.data
        guard tpdu.count >= 5 else { return say(.init(to: message, .failed, error: .badLength)) }
        guard tpdu[1] == 0xC0, !response.isEmpty else {
            response = []
            return perform(tpdu, message, at: now)
        }
        let part = response.prefix(tpdu[4] == 0 ? 256 : Int(tpdu[4]))
        response = Array(response.dropFirst(part.count))
        let left = response.isEmpty ? [0x90, 0x00] : [0x61, UInt8(clamping: response.count)]
        say(.init(to: message, data: part + left))
    }

    /// Sends the T=0 response: data that was not requested is kept and announced with 61xx; a wrong length is corrected
    /// with 6Cxx.
    mutating func respond(_ work: Work, _ reply: [UInt8]) {
        let data = reply.dropLast(2)
        let wanted = work.command.count == 5 ? (work.command[4] == 0 ? 256 : Int(work.command[4])) : 0
        guard reply.suffix(2) == [0x90, 0x00], !data.isEmpty else { return say(.init(to: work.head, data: reply)) }
        if wanted == 256 || wanted == data.count, data.count <= 256 {
            return say(.init(to: work.head, data: reply))
        }
        guard wanted == 0 else {
            return say(.init(to: work.head, data: [0x6C, UInt8(truncatingIfNeeded: data.count)]))
        }
        response = Array(data)
        say(.init(to: work.head, data: [0x61, UInt8(clamping: data.count > 255 ? 0 : data.count)]))
    }
}
