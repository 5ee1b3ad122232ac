// SPDX-License-Identifier: Apache-2.0

package import YKWire

/// The device's side of CTAPHID (CTAP 2.2 §11.2): reports in, reports out, for any number of channels. A value; it
/// does no I/O, and whoever carries its reports calls ``poll(_:)`` while it works.
package struct VirtualHID: Sendable {
    /// What came of a message: an answer, or a wait for a touch.
    package enum Outcome: Sendable {
        /// The answer.
        case answer([UInt8])
        /// The key waits for a touch; the message is tried again.
        case waiting
    }

    private var channels: Set<UInt32> = []
    private var nextChannel: UInt32 = 1
    private var assembler: (channel: CTAPHID.Channel, assembler: CTAPHID.Assembler)?
    private var working: CTAPHID.Message?

    package init() {}

    /// Whether a message waits for a touch.
    package var isWorking: Bool { working != nil }

    /// Takes one report and gives those that answer it; `run` carries CTAP2 and U2F messages out.
    package mutating func receive(_ report: [UInt8], _ run: (CTAPHID.Message) -> Outcome) -> [[UInt8]] {
        guard report.count == CTAPHID.reportSize else { return [] }
        let channel = CTAPHID.Channel(rawValue: report[..<4].reduce(0) { $0 << 8 | UInt32($1) })
        let isInitial = report[4] & 0x80 != 0
        guard channel == .broadcast || channels.contains(channel.rawValue) else {
            return isInitial ? refusal(.invalidChannel, channel) : []
        }
        if let assembler, assembler.channel != channel {
            return isInitial ? refusal(.channelBusy, channel) : []
        }
        if assembler == nil {
            guard isInitial else { return [] }
            assembler = (channel, CTAPHID.Assembler(channel: channel))
        } else if isInitial, report[4] & 0x7F != CTAPHID.Command.initialize.rawValue {
            assembler = nil
            return refusal(.invalidSequence, channel)
        }
        do {
            guard case .message(let message)? = try assembler?.assembler.add(report) else { return [] }
            assembler = nil
            return answer(message, run)
        } catch {
            assembler = nil
            return refusal(error.code == .tooLarge ? .invalidLength : .invalidSequence, channel)
        }
    }

    /// Tries the message that waits again: its answer, or a keepalive.
    package mutating func poll(_ run: (CTAPHID.Message) -> Outcome) -> [[UInt8]] {
        guard let message = working else { return [] }
        return finish(message, run)
    }

    private mutating func answer(_ message: CTAPHID.Message, _ run: (CTAPHID.Message) -> Outcome) -> [[UInt8]] {
        switch message.command {
        case .initialize: return initialise(message)
        case .cancel: return cancel(message)
        default: break
        }
        guard message.channel != .broadcast else { return refusal(.invalidChannel, message.channel) }
        guard working == nil else { return refusal(.channelBusy, message.channel) }
        switch message.command {
        case .ping: return reports(.ping, message.channel, message.payload)
        case .wink, .lock: return reports(message.command, message.channel, [])
        case .cbor, .msg: return finish(message, run)
        default: return refusal(.invalidCommand, message.channel)
        }
    }

    private mutating func finish(_ message: CTAPHID.Message, _ run: (CTAPHID.Message) -> Outcome) -> [[UInt8]] {
        switch run(message) {
        case .answer(let payload):
            working = nil
            return reports(message.command, message.channel, payload)
        case .waiting:
            working = message
            return reports(.keepalive, message.channel, [0x02])
        }
    }

    private mutating func initialise(_ message: CTAPHID.Message) -> [[UInt8]] {
        guard message.payload.count == 8 else { return refusal(.invalidLength, message.channel) }
        var channel = message.channel
        if channel == .broadcast {
            channel = CTAPHID.Channel(rawValue: nextChannel)
            channels.insert(nextChannel)
            nextChannel = nextChannel == .max - 1 ? 1 : nextChannel + 1
        } else if working?.channel == channel {
            working = nil
        }
        return reports(.initialize, message.channel, message.payload + channel.bytes + [2, 5, 7, 1, 0x05])
    }

    private mutating func cancel(_ message: CTAPHID.Message) -> [[UInt8]] {
        guard let working, working.channel == message.channel else { return [] }
        self.working = nil
        return reports(working.command, working.channel, [0x2D])
    }

    private func refusal(_ code: CTAPHID.ErrorCode, _ channel: CTAPHID.Channel) -> [[UInt8]] {
        reports(.error, channel, [code.rawValue])
    }

    private func reports(
        _ command: CTAPHID.Command, _ channel: CTAPHID.Channel, _ payload: [UInt8]
    ) -> [[UInt8]] {
        (try? CTAPHID.Message(command, on: channel, payload).reports()) ?? []
    }
}
