// SPDX-License-Identifier: Apache-2.0

import YKTransport
import YKWire

extension HIDFIDOLink {
    /// Requests a channel on the broadcast channel and stores what the key reports about itself.
    func allocate(_ deadline: Deadline) throws(FIDOLinkError) {
        let reply = try initialise(on: .broadcast, deadline)
        guard ![0, CTAPHID.Channel.broadcast.rawValue].contains(reply.channel.rawValue) else {
            throw .malformed(WireError(.malformed, at: 8, "INIT allocated the channel \(reply.channel)"))
        }
        channel = reply.channel
        profile = reply.profile
    }

    /// CTAPHID_INIT (CTAP 2.2 §11.2.9.1.3) with our own nonce; answers to other nonces are for other programs.
    func initialise(on channel: CTAPHID.Channel, _ deadline: Deadline) throws(FIDOLinkError) -> InitReply {
        let nonce = try lift(FIDOLinkError.device) { () throws(LinkError) in
            try environment.random.draw(8, secret: false)
        }
        while true {
            try send(.init(.initialize, on: channel, nonce), deadline)
            do { return try initReply(on: channel, nonce, deadline) } catch .refused(.channelBusy) {
                try checked(deadline, "a busy key")
                environment.pause(Self.busyInterval, deadline)
            }
        }
    }

    private func initReply(
        on channel: CTAPHID.Channel, _ nonce: [UInt8], _ deadline: Deadline
    ) throws(FIDOLinkError) -> InitReply {
        var assembler = CTAPHID.Assembler(channel: channel)
        while true {
            let message: CTAPHID.Message
            do { message = try next(&assembler, deadline) } catch .malformed { continue }  // Other programs' pieces.
            switch message.command {
            case .initialize where message.payload.starts(with: nonce):
                return try lift(FIDOLinkError.malformed) { () throws(WireError) in try InitReply(message.payload) }
            case .error: throw .refused(try errorCode(message))
            default: continue
            }
        }
    }

    /// Sends a message report by report.
    func send(_ message: CTAPHID.Message, _ deadline: Deadline) throws(FIDOLinkError) {
        let reports = try lift(FIDOLinkError.malformed) { () throws(WireError) in try message.reports() }
        try lift(FIDOLinkError.device) { () throws(LinkError) in
            for report in reports { try link.write(report, deadline: deadline) }
        }
    }

    /// Waits for the answer to a command: reports keepalives and ignores other channels' reports.
    func answer(
        to command: CTAPHID.Command, _ deadline: Deadline, _ keepalive: (FIDOKeepalive) -> Void
    ) throws(FIDOLinkError) -> [UInt8] {
        var assembler = CTAPHID.Assembler(channel: channel)
        while true {
            let message = try next(&assembler, deadline)
            switch message.command {
            case command: return message.payload
            case .keepalive: if let status = message.payload.first { keepalive(FIDOKeepalive(rawValue: status)) }
            case .error: throw .refused(try errorCode(message))
            default:
                let reason = "\(message.command) in answer to \(command)"
                throw .malformed(WireError(.malformed, at: 4, reason))
            }
        }
    }

    /// The next complete message of the assembler's channel.
    func next(
        _ assembler: inout CTAPHID.Assembler, _ deadline: Deadline
    ) throws(FIDOLinkError) -> CTAPHID.Message {
        while true {
            let report = try lift(FIDOLinkError.device) { () throws(LinkError) in
                try deadline.check("an answer of the key")
                return try link.read(deadline: deadline)
            }
            let progress = try lift(FIDOLinkError.malformed) { () throws(WireError) in try assembler.add(report) }
            if case .message(let message) = progress { return message }
        }
    }

    private func errorCode(_ message: CTAPHID.Message) throws(FIDOLinkError) -> CTAPHID.ErrorCode {
        guard let code = message.payload.first else {
            throw .malformed(WireError(.truncated, at: 7, "an error without a code"))
        }
        return CTAPHID.ErrorCode(rawValue: code)
    }
}
