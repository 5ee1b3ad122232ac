// SPDX-License-Identifier: Apache-2.0

import YKTransport
import YKWire

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
