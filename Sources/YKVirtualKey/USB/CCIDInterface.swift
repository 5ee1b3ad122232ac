// SPDX-License-Identifier: Apache-2.0

import YKTransport
import YKWire

/// The smart card reader with a key in it, on the USB (CCID 1.1): whole command APDUs, short and extended, in one slot.
struct CCIDInterface: USBInterface {
    let endpoints: [UInt8] = [0x02, 0x82, 0x83]
    private let key: VirtualKey
    private let number: UInt64
    private let report: (ServedKeyEvent) -> Void
    private var buffer: [UInt8] = []
    private var outgoing: [[UInt8]] = []
    private var isPowered = false
    private var hasTold = false
    private var command: [UInt8] = []
    private var response: [UInt8] = []
    private var work: (head: CCIDMessage, command: [UInt8], told: ContinuousClock.Instant)?

    init(_ key: VirtualKey, report: @escaping (ServedKeyEvent) -> Void) {
        self.key = key
        self.report = report
        number = key.nextLink()
    }

    func descriptors(number: UInt8) -> [UInt8] {
        USBDescriptor.interface(number, endpoints: 3, 0x0B) + CCIDMessage.descriptor
            + USBDescriptor.endpoint(0x02, 2, packet: 64, interval: 0)
            + USBDescriptor.endpoint(0x82, 2, packet: 64, interval: 0)
            + USBDescriptor.endpoint(0x83, 3, packet: 8, interval: 32)
    }

    /// ABORT is taken; the frequencies and rates cannot be asked for.
    mutating func control(_ request: USBRequest, _ data: [UInt8]) -> [UInt8]? {
        request.isOfClass && request.request == 1 ? [] : nil
    }

    mutating func receive(_ data: [UInt8], at now: ContinuousClock.Instant) {
        buffer += data
        while let (message, size) = CCIDMessage.first(in: buffer) {
            buffer.removeFirst(size)
            answer(message, at: now)
        }
        if buffer.count > CCIDMessage.limit { buffer = [] }
    }

    mutating func next(endpoint: UInt8, at now: ContinuousClock.Instant) -> [UInt8]? {
        if endpoint == 0x83 {
            // A card is in slot 0, and that is news; it is told once.
            defer { hasTold = true }
            return hasTold ? nil : [0x50, 0x03]
        }
        return outgoing.isEmpty ? nil : outgoing.removeFirst()
    }

    mutating func poll(at now: ContinuousClock.Instant) {
        guard let work else { return }
        if let reply = attempt(work.command) {
            self.work = nil
            finish(work.head, reply)
        } else if work.told.duration(to: now) > .seconds(1) {
            self.work?.told = now
            outgoing.append(work.head.reply(0x80, status: 0x80, error: 10))
        }
    }

    func pause(at now: ContinuousClock.Instant) -> Duration? { work == nil ? nil : .milliseconds(10) }

    private mutating func answer(_ message: CCIDMessage, at now: ContinuousClock.Instant) {
        guard message.slot == 0 else { return outgoing.append(message.reply(0x81, status: 0x42, error: 5)) }
        let state: UInt8 = isPowered ? 0 : 1
        switch message.kind {
        case 0x62: powerOn(message)
        case 0x63:
            release()
            outgoing.append(message.reply(0x81, status: 1))
        case 0x65: outgoing.append(message.reply(0x81, status: state))
        case 0x61, 0x6C, 0x6D: outgoing.append(message.reply(0x82, status: state, last: 1, CCIDMessage.parameters))
        case 0x6F: transfer(message, at: now)
        case 0x72:
            work = nil
            outgoing.append(message.reply(0x81, status: state))
        default: outgoing.append(message.reply(message.replyKind, status: 0x40 | state, error: 0))
        }
    }

    private mutating func powerOn(_ message: CCIDMessage) {
        release()
        guard (try? key.hold(number)) != nil else {
            // ICC_MUTE: another program has the key's file.
            return outgoing.append(message.reply(0x80, status: 0x42, error: 0xFE))
        }
        isPowered = true
        outgoing.append(message.reply(0x80, status: 0, key.state.profile.atr))
    }

    private mutating func release() {
        guard isPowered else { return }
        isPowered = false
        work = nil
        (command, response) = ([], [])
        key.deselect()
        key.release(number)
    }

    /// A command in one part or several (level parameter 0, 1 begin, 2 end, 3 middle), or the wish for more of a long
    /// response (10), CCID 1.1 §6.1.4.
    private mutating func transfer(_ message: CCIDMessage, at now: ContinuousClock.Instant) {
        guard isPowered else { return outgoing.append(message.reply(0x80, status: 0x41, error: 0xFE)) }
        guard work == nil else { return outgoing.append(message.reply(0x80, status: 0x40, error: 0xE0)) }
        switch message.parameter {
        case 0x0000: command = message.data
        case 0x0001: command = message.data
        case 0x0002, 0x0003: command += message.data
        case 0x0010: return sendRest(message, isFirst: false)
        default: return outgoing.append(message.reply(0x80, status: 0x40, error: 8))
        }
        guard command.count <= 70_000 else {
            command = []
            return outgoing.append(message.reply(0x80, status: 0x40, error: 1))
        }
        if message.parameter == 1 || message.parameter == 3 {
            return outgoing.append(message.reply(0x80, status: 0, last: 0x10))
        }
        defer { command = [] }
        if let reply = attempt(command) {
            finish(message, reply)
        } else {
            work = (message, command, now)
            outgoing.append(message.reply(0x80, status: 0x80, error: 10))
        }
    }

    /// The response; `nil` while the key waits for a touch.
    private func attempt(_ command: [UInt8]) -> [UInt8]? {
        do { return try key.exchange(command) } catch {
            report(.failed(error))
            return ResponseAPDU(.memoryFailure).encoded
        }
    }

    private mutating func finish(_ message: CCIDMessage, _ reply: [UInt8]) {
        report(.exchange(command: work?.command ?? command, response: reply))
        response = reply
        sendRest(message, isFirst: true)
    }

    /// As much of the response as fits; the chain parameter says whether it is all (0), the beginning (1), the end (2)
    /// or between (3).
    private mutating func sendRest(_ message: CCIDMessage, isFirst: Bool) {
        let part = Array(response.prefix(CCIDMessage.room))
        response.removeFirst(part.count)
        let chain: UInt8 = response.isEmpty ? (isFirst ? 0 : 2) : (isFirst ? 1 : 3)
        outgoing.append(message.reply(0x80, status: 0, last: chain, part))
    }
}
