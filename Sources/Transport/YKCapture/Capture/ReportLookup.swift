// SPDX-License-Identifier: Apache-2.0

import Synchronization
import YKTransport
import YKWire

/// A HID device that answers messages from a recording made by another tool, with other nonces and channels.
struct ReportLookup {
    private let transactions: [ReportTransaction]
    private var assemblers: [CTAPHID.Channel: CTAPHID.Assembler] = [:]
    private var outgoing: [[UInt8]] = []
    /// The host's message, if the recording ends before its answer does.
    private var unanswered: ReplayMismatch?

    init(_ capture: Capture) { transactions = ReportTransaction.all(in: capture) }

    /// Processes a report from the host; the last one of a message makes its answer available.
    mutating func write(_ report: [UInt8], _ replay: CaptureReplay) throws(LinkError) {
        let channel = CTAPHID.Channel(rawValue: report.prefix(4).reduce(0) { $0 << 8 | UInt32($1) })
        var assembler = assemblers[channel] ?? CTAPHID.Assembler(channel: channel)
        defer { assemblers[channel] = assembler }
        let progress = try lift(LinkError.malformed) { () throws(WireError) in try assembler.add(report) }
        guard case .message(let message) = progress else { return }
        switch message.command {
        case .initialize: try answer(initialisation(message, replay))
        case .cancel: break  // The key's response to it is among the answers.
        default: try answer(answers(to: message, report, replay))
        }
    }

    /// The next report of an answer; times out if there is none, unless the recording ends there.
    mutating func read() throws(LinkError) -> [UInt8] {
        if outgoing.isEmpty, let unanswered { throw .replay(unanswered) }
        guard !outgoing.isEmpty else { throw .timedOut("a report of the recording") }
        return outgoing.removeFirst()
    }

    private mutating func answer(_ messages: [CTAPHID.Message]) throws(LinkError) {
        for message in messages {
            outgoing += try lift(LinkError.malformed) { () throws(WireError) in try message.reports() }
        }
    }

    /// The key's answers to the next unused message with the same request, on the host's channel.
    private mutating func answers(
        to message: CTAPHID.Message, _ report: [UInt8], _ replay: CaptureReplay
    ) throws(LinkError) -> [CTAPHID.Message] {
        guard let hit = next(replay, { $0.matches(message) }) else {
            let reason = "the recording has no unused message like this one"
            throw .replay(replay.mismatch(past: message, report, reason))
        }
        unanswered =
            hit.answers.isEmpty && hit.asked == transactions.last?.asked
            ? replay.mismatch(past: message, report, "the recording ends before the answer to this message") : nil
        return hit.answers.map { .init($0.command, on: message.channel, $0.payload) }
    }

    /// Finds the next unused transaction, starting after the last match and wrapping around, and marks it as used.
    private func next(_ replay: CaptureReplay, _ isWanted: (ReportTransaction) -> Bool) -> ReportTransaction? {
        replay.state.withLock { state in
            let unused = transactions.filter { !state.used[$0.asked] && isWanted($0) }
            guard let hit = unused.first(where: { $0.asked >= state.position }) ?? unused.first else { return nil }
            state.used[hit.asked] = true
            state.position = hit.asked + 1
            return hit
        }
    }

    /// The recorded answer to INIT with the host's nonce: the next unused one, or else the last one again, or else one
    /// derived from the recording.
    private func initialisation(_ message: CTAPHID.Message, _ replay: CaptureReplay) -> [CTAPHID.Message] {
        let recorded = next(replay) { $0.message.command == .initialize && !$0.answers.isEmpty }
        let last = transactions.last { $0.message.command == .initialize && !$0.answers.isEmpty }
        guard let answers = (recorded ?? last)?.answers else { return [reply(to: message, ownProfile)] }
        return answers.map { answer in
            guard answer.command == .initialize, answer.payload.count >= 17 else {
                return .init(answer.command, on: message.channel, answer.payload)
            }
            return reply(to: message, Array(answer.payload[8...]))
        }
    }

    /// An answer to INIT: the nonce, then the key's profile, whose first four bytes are the channel.
    private func reply(to message: CTAPHID.Message, _ profile: [UInt8]) -> CTAPHID.Message {
        let channel = message.channel == .broadcast ? Array(profile[..<4]) : message.channel.bytes
        return .init(.initialize, on: message.channel, message.payload.prefix(8) + channel + profile[4...])
    }

    /// Channel 1, protocol version 2, no device version, and CBOR if the recording contains any.
    private var ownProfile: [UInt8] {
        let hasCTAP2 = transactions.contains { $0.message.command == .cbor }
        return [0, 0, 0, 1, 2, 0, 0, 0, hasCTAP2 ? 0x04 : 0x00]
    }
}

extension CaptureReplay {
    /// A mismatch without a recorded event, for a message from the host that ends with this report.
    fileprivate func mismatch(
        past message: CTAPHID.Message, _ report: [UInt8], _ reason: String
    ) -> ReplayMismatch {
        var narrator = Narrator()
        var redactor = Redactor()
        var hidden = report
        var words: String?
        for report in (try? message.reports()) ?? [report] {
            let event = Capture.Event(.written(report))
            if case .written(let masked) = redactor.redacted(event).kind { hidden = masked }
            let narration = narrator.narrate(event)
            words = narration.details.first ?? narration.summary
        }
        var mismatch = ReplayMismatch(line: 0, actual: hidden, reason: reason)
        mismatch.actualWords = words
        return mismatch
    }
}

/// A recorded CTAPHID message and the key's answers, including keepalives.
struct ReportTransaction: Sendable {
    /// The event with the last report of the message.
    let asked: Int
    let message: CTAPHID.Message
    /// The secret ranges of the message.
    let mask: [Capture.Event.Mask]
    private(set) var answers: [CTAPHID.Message] = []

    /// All transactions of a recording, in order. Reports that belong to no message are skipped.
    static func all(in capture: Capture) -> [ReportTransaction] {
        var found: [ReportTransaction] = []
        var latest: [Key: Int] = [:]
        var outgoing: [CTAPHID.Channel: Half] = [:]
        var incoming: [CTAPHID.Channel: Half] = [:]
        for (index, event) in capture.events.enumerated() {
            switch event.kind {
            case .written(let report):
                let asked = Half.take(report, event.commandMask, &outgoing)
                guard let (message, mask) = asked, message.command != .cancel else { continue }
                latest[Key(message)] = found.count
                found.append(ReportTransaction(asked: index, message: message, mask: mask))
            case .delivered(let report):
                guard let (answer, _) = Half.take(report, [], &incoming) else { continue }
                if let place = latest[Key(answer)] { found[place].answers.append(answer) }
            default: continue
            }
        }
        return found
    }

    private init(asked: Int, message: CTAPHID.Message, mask: [Capture.Event.Mask]) {
        self.asked = asked
        self.message = message
        self.mask = mask
    }

    /// What a message and its answers share: the channel, and for INIT on the broadcast channel its nonce.
    private struct Key: Hashable {
        let channel: CTAPHID.Channel
        let nonce: ArraySlice<UInt8>

        init(_ message: CTAPHID.Message) {
            channel = message.channel
            let isShared = message.channel == .broadcast && message.command == .initialize
            nonce = isShared ? message.payload.prefix(8) : []
        }
    }

    /// Whether another message is the same request outside the masked ranges.
    func matches(_ other: CTAPHID.Message) -> Bool {
        message.command == other.command && message.payload.masked(mask) == other.payload.masked(mask)
    }
}

/// One direction of a channel: the message being assembled and its masked ranges.
private struct Half {
    private var assembler: CTAPHID.Assembler
    private var mask: [Capture.Event.Mask] = []
    private var count = 0

    /// Processes a report; returns the message once it is complete.
    static func take(
        _ report: [UInt8], _ mask: [Capture.Event.Mask], _ halves: inout [CTAPHID.Channel: Half]
    ) -> (CTAPHID.Message, [Capture.Event.Mask])? {
        guard report.count == CTAPHID.reportSize else { return nil }
        let channel = CTAPHID.Channel(rawValue: report[..<4].reduce(0) { $0 << 8 | UInt32($1) })
        var half = halves[channel] ?? Half(assembler: CTAPHID.Assembler(channel: channel))
        defer { halves[channel] = half }
        let isInitial = report[4] & 0x80 != 0
        let header = isInitial ? 7 : 5
        if isInitial { (half.mask, half.count) = ([], 0) }
        let start = half.count
        half.mask += mask.map { Capture.Event.Mask(offset: start + $0.offset - header, length: $0.length) }
        half.count += report.count - header
        guard case .message(let message)? = try? half.assembler.add(report) else { return nil }
        return (message, half.mask)
    }
}
