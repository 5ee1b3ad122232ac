// SPDX-License-Identifier: Apache-2.0

package import YKWire

/// One slot of a USB card reader: sends a message and returns its reply, handling time extensions, halted endpoints,
/// late replies and card events (CCID 1.1 §6).
package final class CCIDSlot {
    /// The maximum number of time extensions for one command; usually the deadline ends it earlier.
    static let extensionLimit = 10_000
    /// The maximum number of replies to earlier commands, and of empty transfers, to skip.
    static let staleLimit = 32
    /// The time limit for a reader to abort a command.
    private static let abortTime = Duration.milliseconds(500)

    let descriptor: CCID.Descriptor
    let slot: UInt8
    private let pipe: any USBPipe
    private var sequence: UInt8 = 0
    /// Whether an event reported that the card was removed or replaced; only then is the reader queried.
    private var hasNews = false

    package init(_ pipe: any USBPipe, _ descriptor: CCID.Descriptor, slot: UInt8 = 0) {
        self.pipe = pipe
        self.descriptor = descriptor
        self.slot = slot
    }

    /// Sends a command and returns its reply, whatever the outcome. `onExtension` is called for each time extension.
    func send(_ command: CCID.Command, deadline: Deadline) throws(LinkError) -> CCID.Reply {
        var command = command
        command.slot = slot
        command.sequence = sequence
        sequence &+= 1
        try write(command.encoded, deadline)
        do { return try reply(to: command, deadline) } catch {
            if error == .cancelled || error.isTimeOut { abort(command.sequence) }
            throw error
        }
    }

    /// Whether the reader has reported a card insertion or removal since the last call.
    func takeNews() throws(LinkError) -> Bool {
        while let news = try lift(\.asLinkError, { () throws(USBFailure) in try pipe.news() }) { note(news) }
        defer { hasNews = false }
        return hasNews
    }

    func close() { pipe.close() }

    // MARK: transfers

    /// Sends bytes; retries once when the endpoint was halted, since nothing was received then.
    private func write(_ bytes: [UInt8], _ deadline: Deadline) throws(LinkError) {
        do { return try pipe.send(bytes, deadline: deadline) } catch {
            guard error == .stalled else { throw error.asLinkError }
        }
        try lift(\.asLinkError) { () throws(USBFailure) in
            try pipe.clearHalt(isIn: false)
            try pipe.send(bytes, deadline: deadline)
        }
    }

    private func reply(to command: CCID.Command, _ deadline: Deadline) throws(LinkError) -> CCID.Reply {
        var (extensions, stale) = (0, 0)
        while true {
            let reply = try read(deadline)
            guard reply.slot == slot, reply.sequence == command.sequence else {
                stale += 1
                guard stale <= Self.staleLimit else {
                    throw .malformed(WireError(.malformed, at: 6, "nothing but replies to other commands"))
                }
                continue
            }
            switch reply.outcome {
            case .moreTime:
                extensions += 1
                guard extensions <= Self.extensionLimit else {
                    throw .unresponsive("the card asked for more time \(extensions) times")
                }
            case .failed: return reply
            case .done:
                // CanoKey 3.0 answers an unknown command with the slot status, and no error.
                let isUnknown = command.kind == .escape && reply.kind == .slotStatus
                guard reply.kind == command.kind.reply || isUnknown else {
                    let kind = Hex.encode([reply.kind.rawValue])
                    throw .malformed(WireError(.malformed, at: 0, "a reply of kind \(kind) to another command"))
                }
                return reply
            case nil: throw .malformed(WireError(.malformed, at: 7, "status \(Hex.encode([reply.status]))"))
            }
        }
    }

    /// Reads one message. The header gives the length, so no more than that is requested: a reader then need not end a
    /// message that fills its last packet with an empty packet, and empty ones are skipped.
    private func read(_ deadline: Deadline) throws(LinkError) -> CCID.Reply {
        var assembler = CCID.Assembler()
        var empty = 0
        while true {
            let bytes = try transfer(assembler.isInMessage ? assembler.missing : pipe.packetSize, deadline)
            if bytes.isEmpty {
                empty += 1
                guard empty <= Self.staleLimit else {
                    throw .malformed(WireError(.truncated, at: 0, "nothing but empty transfers"))
                }
                continue
            }
            let message = try lift(LinkError.malformed) { () throws(WireError) -> CCID.Reply? in
                try assembler.add(bytes).map { bytes throws(WireError) in try CCID.Reply(decoding: bytes) }
            }
            if let message { return message }
            if bytes.count % pipe.packetSize != 0 {
                throw .malformed(WireError(.truncated, at: bytes.count, "a short packet within a message"))
            }
        }
    }

    private func transfer(_ count: Int, _ deadline: Deadline) throws(LinkError) -> [UInt8] {
        let packets = (count + pipe.packetSize - 1) / pipe.packetSize
        var hasStalled = false
        while true {
            do throws(USBFailure) {
                switch try pipe.receive(packets * pipe.packetSize, deadline: deadline) {
                case .data(let bytes): return bytes
                case .news(let news):
                    note(news)
                    if isGone(news) { throw .link(.removed) }
                }
            } catch {
                guard error == .stalled, !hasStalled else { throw error.asLinkError }
                // The reply may still arrive: the command is not repeated, because the card may have executed it.
                hasStalled = true
                try lift(\.asLinkError) { () throws(USBFailure) in try pipe.clearHalt(isIn: true) }
            }
        }
    }

    // MARK: news

    private func note(_ news: [UInt8]) {
        guard let state = CCID.Notification(news).state(of: slot) else { return }
        if !state.hasCard || state.hasChanged { hasNews = true }
    }

    private func isGone(_ news: [UInt8]) -> Bool { CCID.Notification(news).state(of: slot)?.hasCard == false }

    /// Aborts the command in the slot: a class request first, then a message with the same number, until it is answered
    /// (CCID 1.1 §5.3.1). Failures here are detected by the next command.
    private func abort(_ number: UInt8) {
        let deadline = Deadline.after(Self.abortTime)
        let value = UInt16(number) << 8 | UInt16(slot)
        try? pipe.request(CCID.abortRequest, value: value, deadline: deadline)
        let command = CCID.Command(.abort, slot: slot, sequence: number)
        guard (try? pipe.send(command.encoded, deadline: deadline)) != nil else { return }
        for _ in 0..<Self.staleLimit {
            guard let reply = try? read(deadline) else { return }
            if reply.sequence == number, reply.kind == .slotStatus { return }
        }
    }
}

extension LinkError {
    fileprivate var isTimeOut: Bool { if case .timedOut = self { true } else { false } }
}
