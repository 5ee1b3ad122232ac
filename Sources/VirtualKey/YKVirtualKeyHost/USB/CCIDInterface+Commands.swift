// SPDX-License-Identifier: Apache-2.0

import YKTransport
import YKVirtualKey
import YKWire

extension CCIDInterface {
    /// Answers a message to the reader.
    mutating func answer(_ message: CCID.Command, at now: ContinuousClock.Instant) {
        guard message.slot == 0 else {
            return say(.init(to: message, as: .slotStatus, card: .absent, .failed, error: .badSlot))
        }
        let card: CCID.Reply.Card = isPowered ? .active : .inactive
        switch message.kind {
        case .powerOn: powerOn(message)
        case .powerOff:
            release()
            say(.init(to: message, card: .inactive))
        case .slotStatus: say(.init(to: message, card: card))
        case .setParameters, .getParameters, .resetParameters: say(parameters(message, card))
        case .transfer: transfer(message, at: now)
        case .abort:
            work = nil
            say(.init(to: message, card: card))
        default: say(.init(to: message, card: card, .failed))
        }
    }

    /// T=1: speed 11, waiting times 4D, blocks of 254 bytes. T=0: speed 11, waiting time 10.
    private func parameters(_ message: CCID.Command, _ card: CCID.Reply.Card) -> CCID.Reply {
        let all: CCID.Parameters =
            level == .t0
            ? .t0(speed: 0x11, convention: 0, guardTime: 0, waiting: 10, clockStop: 0) : .t1(.init(blockSize: 0xFE))
        return .init(to: message, card: card, choice: all.protocolNumber, data: all.encoded)
    }

    private mutating func powerOn(_ message: CCID.Command) {
        release()
        let isEnough = [CCID.Voltage.automatic, .five].contains { $0.rawValue == message.choice }
        guard isEnough || level.descriptor.features.contains(.voltage), (try? key.hold(number)) != nil else {
            // The voltage is too low, or another program uses the key's file.
            return say(.init(to: message, card: isEnough ? .absent : .inactive, .failed, error: .mute))
        }
        isPowered = true
        blocks = T1Card()
        say(.init(to: message, data: level == .t0 ? ReaderLevel.t0ATR : key.state.profile.atr))
    }

    mutating func release() {
        guard isPowered else { return }
        isPowered = false
        work = nil
        (command, response) = ([], [])
        key.deselect()
        key.release(number)
    }

    /// Processes a command in one part or several, or a request for the rest of a long response (CCID 1.1 §6.1.4).
    private mutating func transfer(_ message: CCID.Command, at now: ContinuousClock.Instant) {
        guard isPowered else { return say(.init(to: message, card: .inactive, .failed, error: .mute)) }
        if !level.descriptor.features.contains(.selection), let choice = try? ProtocolSelection(decoding: message.data)
        {
            // Any protocol and speed is accepted.
            return say(.init(to: message, data: choice.encoded))
        }
        switch level {
        case .t1: return take(block: message, at: now)
        case .t0: return take(tpdu: message, at: now)
        case .extended, .short: break
        }
        guard work == nil else { return say(.init(to: message, .failed, error: .slotBusy)) }
        let chain = CCID.Chain(rawValue: message.level)
        switch chain {
        case .whole, .begin: command = message.data
        case .end, .middle: command += message.data
        case .proceed: return sendRest(message, isFirst: false)
        case nil: return say(.init(to: message, .failed, error: .badLevel))
        }
        guard command.count <= CCID.dataLimit else {
            command = []
            return say(.init(to: message, .failed, error: .badLength))
        }
        if chain == .begin || chain == .middle {
            return say(.init(to: message, choice: UInt8(CCID.Chain.proceed.rawValue)))
        }
        perform(command, message, at: now)
        command = []
    }

    /// Sends the response to a complete command.
    mutating func finish(_ work: Work, _ reply: [UInt8]) {
        report(.exchange(command: work.command, response: reply))
        switch level {
        case .t1: say(.init(to: work.head, data: blocks.respond(reply)))
        case .t0: respond(work, reply)
        case .extended, .short:
            response = reply
            sendRest(work.head, isFirst: true)
        }
    }

    /// Sends as much of the response as fits; the chain parameter says which part it is.
    private mutating func sendRest(_ message: CCID.Command, isFirst: Bool) {
        let part = Array(response.prefix(level.descriptor.maxDataLength))
        response.removeFirst(part.count)
        let chain: CCID.Chain = response.isEmpty ? (isFirst ? .whole : .end) : (isFirst ? .begin : .middle)
        say(.init(to: message, choice: UInt8(chain.rawValue), data: part))
    }
}
