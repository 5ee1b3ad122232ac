// SPDX-License-Identifier: Apache-2.0

import YKVirtualKey
import YKWire

/// The USB smart card reader that holds the key (CCID 1.1), with one slot.
struct CCIDInterface: USBInterface {
    /// A command in progress in the slot.
    struct Work {
        var head: CCID.Command
        var command: [UInt8]
        /// When the host was last asked for more time.
        var lastSign: ContinuousClock.Instant
        /// When the key starts working on it; later than now for a slow key.
        var start: ContinuousClock.Instant
        /// Whether the command never completes, and whether the host hears nothing of it.
        var isEndless = false
        var isSilent = false
        /// Whether a block has asked the host for more time and the host has not answered yet.
        var isBlockAsked = false
    }

    let endpoints: [UInt8] = [0x02, 0x82, 0x83]
    let key: VirtualKey
    let number: UInt64
    let level: ReaderLevel
    let report: (ServedKeyEvent) -> Void
    /// The faults to inject on the card.
    var faults: FaultPlan
    var absence: FaultPlan.Absence?
    var isPowered = false
    var command: [UInt8] = []
    var response: [UInt8] = []
    var work: Work?
    var blocks = T1Card()
    /// The fault to inject into the next message to the host.
    var spoiler: FaultPlan.Fault?
    /// The number of transfers to the host after which the key is removed.
    private var transfersLeft: Int?
    private(set) var isHalted = false
    private var buffer: [UInt8] = []
    private var outgoing: [[UInt8]] = []
    private var news: [[UInt8]] = [[0x50, 0x03]]

    init(
        _ key: VirtualKey, level: ReaderLevel = .extended, faults: FaultPlan = FaultPlan(),
        report: @escaping (ServedKeyEvent) -> Void
    ) {
        self.key = key
        self.level = level
        self.faults = faults
        self.report = report
        number = key.nextLink()
    }

    func descriptors(number: UInt8) -> [UInt8] {
        USBDescriptor.interface(number, endpoints: 3, 0x0B) + level.descriptor.encoded
            + USBDescriptor.endpoint(0x02, 2, packet: 64, interval: 0)
            + USBDescriptor.endpoint(0x82, 2, packet: 64, interval: 0)
            + USBDescriptor.endpoint(0x83, 3, packet: 8, interval: 32)
    }

    /// Accepts ABORT; clock frequencies and data rates cannot be queried.
    mutating func control(_ request: USBRequest, _ data: [UInt8]) -> [UInt8]? {
        request.isOfClass && request.request == CCID.abortRequest ? [] : nil
    }

    mutating func receive(_ data: [UInt8], at now: ContinuousClock.Instant) {
        buffer += data
        while let length = CCID.announcedLength(buffer) {
            guard length <= level.descriptor.maxDataLength else {
                let head = CCID.Command(.init(rawValue: buffer[0]), slot: buffer[5], sequence: buffer[6])
                say(.init(to: head, .failed, error: .badLength))
                buffer = []
                return
            }
            let size = CCID.headerSize + length
            guard buffer.count >= size else { return }
            let message = Array(buffer[..<size])
            buffer.removeFirst(size)
            if let command = try? CCID.Command(decoding: message) { answer(command, at: now) }
        }
    }

    mutating func next(endpoint: UInt8, at now: ContinuousClock.Instant) -> [UInt8]? {
        next(endpoint: endpoint, limit: .max, at: now)
    }

    /// Returns as many bytes as the host asks for; its next transfers get the rest. A message that exactly fills its
    /// last packet and the host's transfer is followed by an empty packet.
    mutating func next(endpoint: UInt8, limit: Int, at now: ContinuousClock.Instant) -> [UInt8]? {
        if endpoint == 0x83 { return news.isEmpty ? nil : news.removeFirst() }
        guard !isHalted, let first = outgoing.first else { return nil }
        if let left = transfersLeft {
            transfersLeft = left - 1
            guard left > 0 else {
                absence = .forGood
                return nil
            }
        }
        let part = Array(first.prefix(limit))
        if part.count == limit, first.count > limit || first.count % 64 == 0 && !first.isEmpty {
            outgoing[0] = Array(first.dropFirst(limit))
        } else {
            outgoing.removeFirst()
        }
        return part
    }

    func pause(at now: ContinuousClock.Instant) -> Duration? { work == nil ? nil : .milliseconds(10) }

    mutating func say(_ reply: CCID.Reply) {
        var bytes = reply.encoded
        switch spoiler {
        case .length(let more):
            let length = UInt32(truncatingIfNeeded: reply.data.count + more)
            for index in 0..<4 { bytes[1 + index] = UInt8(truncatingIfNeeded: length >> (8 * UInt32(index))) }
        case .sequence: bytes[6] &+= 1
        case .stall: isHalted = true
        case .removeAfter(let count): transfersLeft = count
        default: break
        }
        spoiler = nil
        outgoing.append(bytes)
    }

    func isHalted(_ endpoint: UInt8) -> Bool { endpoint == 0x82 && isHalted }

    mutating func clearHalt(_ endpoint: UInt8) { if endpoint == 0x82 { isHalted = false } }

    /// Reports that the card was removed and inserted again.
    mutating func tellExchange() { news += [[0x50, 0x02], [0x50, 0x03]] }

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
