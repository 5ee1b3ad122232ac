// SPDX-License-Identifier: Apache-2.0

import YKTransport
package import YKWire

/// The device's side of CTAPHID (CTAP 2.2 §11.2): reports in, reports out, for any number of channels.
///
/// A value; it does no I/O and has no clock. Whoever carries its reports hands in what came with ``receive(_:at:_:)``,
/// calls ``poll(at:_:)`` when ``pause(at:)`` is over, and sends what ``next(at:)`` gives.
package struct VirtualHID: Sendable {
    /// A point in time.
    package typealias Instant = ContinuousClock.Instant

    /// What came of a message: an answer, or a wait for a touch.
    package enum Outcome: Sendable {
        /// The answer.
        case answer([UInt8])
        /// The message is refused.
        case refused(CTAPHID.ErrorCode)
        /// The key waits for a touch; the message is tried again.
        case waiting
        /// The key generates a key pair; the message is tried again.
        case computing
    }

    /// A message that is under way.
    struct Work: Sendable {
        let message: CTAPHID.Message
        /// What the last keepalive said, and when: 1 for computing, 2 for waiting for a touch (CTAP 2.2 §11.2.9.1.7).
        var doing: UInt8
        var told: Instant
        /// Since when the key waits for a touch; `nil` while it does not.
        var waitsSince: Instant?
    }

    /// A message that is not whole yet.
    struct Beginning: Sendable {
        let channel: CTAPHID.Channel
        var assembler: CTAPHID.Assembler
        var last: Instant
    }

    /// How long the key waits for a touch.
    package var touchTime: Duration = .seconds(30)
    /// How long after a report the next one of the same message may come (CTAP 2.2 §11.2.5.2).
    package var messageTime: Duration = .milliseconds(500)
    /// How much time is between keepalives (CTAP 2.2 §11.2.9.1.7).
    static let keepalivePeriod = Duration.milliseconds(100)

    let version: [UInt8]
    /// What the answer to INIT says that the key can do: blink (01), CTAP2 (04), no U2F (08).
    package var capabilities: UInt8 = 0x05
    var faults: FaultPlan
    var fault: FaultPlan.Fault?
    var busyLeft = 0
    /// A fault that belongs to a report, for the message it is of.
    var spoiling: FaultPlan.Fault?
    /// Reports and when they are due; `nil` stands where the key is taken away.
    var outgoing: [(due: Instant, report: [UInt8]?)] = []
    var work: Work?
    /// Set once a fault took the key away.
    package internal(set) var absence: FaultPlan.Absence?
    /// How often the key was asked to blink.
    package private(set) var winks = 0

    private var channels: Set<UInt32> = []
    private var nextChannel: UInt32 = 1
    private var beginning: Beginning?
    private var lock: (channel: CTAPHID.Channel, until: Instant)?

    /// Makes a device that nobody has spoken to; `version` are the three numbers in its answer to INIT.
    package init(version: [UInt8] = [5, 7, 1], faults: FaultPlan = FaultPlan()) {
        self.version = version
        self.faults = faults
    }

    /// Makes the FIDO interface of a key with what is switched on there.
    package init(_ key: VirtualKeyState, faults: FaultPlan = FaultPlan()) {
        self.init(version: key.profile.version.bytes, faults: faults)
        setCapabilities(key)
    }

    /// Says what is switched on, as a key does when it is plugged in.
    package mutating func setCapabilities(_ key: VirtualKeyState) {
        let enabled = key.enabled(over: .usb)
        capabilities =
            0x01 | (enabled & VirtualCapability.fido2 != 0 ? 0x04 : 0)
            | (enabled & VirtualCapability.u2f != 0 ? 0 : 0x08)
    }

    /// The device when it is plugged in again: nobody has spoken to it, what is planned goes on.
    package var replugged: VirtualHID {
        var device = VirtualHID(version: version, faults: faults)
        device.touchTime = touchTime
        device.capabilities = capabilities
        return device
    }

    /// Takes one report; `run` carries CTAP2 and U2F messages out.
    package mutating func receive(_ report: [UInt8], at now: Instant, _ run: (CTAPHID.Message) -> Outcome) {
        guard absence == nil, report.count == CTAPHID.reportSize, admit(at: now) else { return }
        expire(at: now)
        let channel = CTAPHID.Channel(rawValue: report[..<4].reduce(0) { $0 << 8 | UInt32($1) })
        let command = report[4] & 0x80 != 0 ? CTAPHID.Command(rawValue: report[4] & 0x7F) : nil
        if let refusal = refusal(channel, command) {
            if command != nil { say(.init(.error, on: channel, [refusal.rawValue]), at: now) }
            return
        }
        do {
            guard let message = try whole(report, channel, command, at: now) else { return }
            answer(message, at: now, run)
        } catch {
            let code: CTAPHID.ErrorCode = error.code == .tooLarge ? .invalidLength : .invalidSequence
            send(.init(.error, on: channel, [code.rawValue]), at: now)
        }
    }

    /// Does what time brings: a message that waits is tried again, keepalives are sent, what was abandoned is dropped.
    package mutating func poll(at now: Instant, _ run: (CTAPHID.Message) -> Outcome) {
        expire(at: now)
        guard let work else { return }
        if let since = work.waitsSince, since.duration(to: now) >= touchTime, !isEndless {
            finish(work.message, [0x2F], at: now)
        } else {
            attempt(work.message, at: now, run)
        }
    }

    /// The next report that is due.
    package mutating func next(at now: Instant) -> [UInt8]? {
        guard let first = outgoing.first, first.due <= now else { return nil }
        if let report = outgoing.removeFirst().report { return report }
        leave(.forGood)
        return nil
    }

    /// How long nothing happens by itself; `nil` for as long as no report comes.
    package func pause(at now: Instant) -> Duration? {
        var ends = outgoing.prefix(1).map(\.due)
        if work != nil { ends.append(now.advanced(by: .milliseconds(10))) }
        if let beginning { ends.append(beginning.last.advanced(by: messageTime)) }
        return ends.min().map { max(.zero, now.duration(to: $0)) }
    }

    // MARK: - From reports to messages

    /// Why a report is not listened to (CTAP 2.2 §11.2.5): INIT on the broadcast channel always is.
    private func refusal(_ channel: CTAPHID.Channel, _ command: CTAPHID.Command?) -> CTAPHID.ErrorCode? {
        if channel == .broadcast { return command == .initialize ? nil : .invalidChannel }
        guard channels.contains(channel.rawValue) else { return .invalidChannel }
        if let beginning, beginning.channel != channel { return .channelBusy }
        if let lock, lock.channel != channel { return .channelBusy }
        return nil
    }

    private mutating func whole(
        _ report: [UInt8], _ channel: CTAPHID.Channel, _ command: CTAPHID.Command?, at now: Instant
    ) throws(WireError) -> CTAPHID.Message? {
        if channel == .broadcast {
            var assembler = CTAPHID.Assembler(channel: channel)
            guard case .message(let message) = try assembler.add(report) else {
                throw WireError(.tooLarge, at: 5, "INIT of more than one report")
            }
            return message
        }
        if beginning == nil, command == nil { return nil }
        var current = beginning ?? Beginning(channel: channel, assembler: .init(channel: channel), last: now)
        beginning = nil
        if current.assembler.isInMessage, let command, command != .initialize {
            throw WireError(.malformed, at: 4, "a message inside a message")
        }
        let progress = try current.assembler.add(report)
        if case .message(let message) = progress { return message }
        current.last = now
        beginning = current
        return nil
    }

    private mutating func expire(at now: Instant) {
        if let lock, lock.until <= now { self.lock = nil }
        guard let late = beginning, late.last.duration(to: now) >= messageTime else { return }
        beginning = nil
        send(.init(.error, on: late.channel, [CTAPHID.ErrorCode.timeout.rawValue]), at: now)
    }

    // MARK: - From messages to answers

    private mutating func answer(
        _ message: CTAPHID.Message, at now: Instant, _ run: (CTAPHID.Message) -> Outcome
    ) {
        guard plan(message, at: now) else { return }
        switch message.command {
        case .initialize: return initialise(message, at: now)
        case .cancel: return cancel(message, at: now)
        default: break
        }
        guard work == nil else {
            return say(.init(.error, on: message.channel, [CTAPHID.ErrorCode.channelBusy.rawValue]), at: now)
        }
        switch message.command {
        case .ping: finish(message, message.payload, at: now)
        case .wink:
            winks += 1
            finish(message, [], at: now)
        case .lock: lock(message, at: now)
        case .cbor, .msg:
            guard !message.payload.isEmpty else { return refuse(message, .invalidLength, at: now) }
            attempt(message, at: now, run)
        case let command where command.isVendor: attempt(message, at: now, run)
        default: refuse(message, .invalidCommand, at: now)
        }
    }

    private mutating func attempt(
        _ message: CTAPHID.Message, at now: Instant, _ run: (CTAPHID.Message) -> Outcome
    ) {
        var doing: UInt8 = 0x01
        if !isEndless {
            switch run(message) {
            case .answer(let payload): return finish(message, payload, at: now)
            case .refused(let code):
                if work?.message == message { work = nil }
                return refuse(message, code, at: now)
            case .waiting: doing = 0x02
            case .computing: break
            }
        }
        if let work, work.doing == doing, work.told.duration(to: now) < Self.keepalivePeriod { return }
        let waitsSince = doing == 0x02 ? work?.waitsSince ?? now : nil
        work = Work(message: message, doing: doing, told: now, waitsSince: waitsSince)
        say(.init(.keepalive, on: message.channel, [doing]), at: now)
    }

    private mutating func lock(_ message: CTAPHID.Message, at now: Instant) {
        guard message.payload.count == 1 else { return refuse(message, .invalidLength, at: now) }
        guard message.payload[0] <= 10 else { return refuse(message, .invalidParameter, at: now) }
        lock = message.payload[0] == 0 ? nil : (message.channel, now.advanced(by: .seconds(Int(message.payload[0]))))
        finish(message, [], at: now)
    }

    private mutating func initialise(_ message: CTAPHID.Message, at now: Instant) {
        guard message.payload.count == 8 else { return refuse(message, .invalidLength, at: now) }
        var channel = message.channel
        if channel == .broadcast {
            channel = CTAPHID.Channel(rawValue: nextChannel)
            channels.insert(nextChannel)
            nextChannel = nextChannel == .max - 1 ? 1 : nextChannel + 1
        } else if work?.message.channel == channel {
            work = nil
        }
        // Version 2 of the protocol.
        let facts = channel.bytes + [2] + version + [capabilities]
        send(.init(.initialize, on: message.channel, message.payload + facts), at: now)
    }

    private mutating func cancel(_ message: CTAPHID.Message, at now: Instant) {
        guard let work, work.message.channel == message.channel, !isEndless else { return }
        finish(work.message, [0x2D], at: now)
    }

    private mutating func finish(_ message: CTAPHID.Message, _ payload: [UInt8], at now: Instant) {
        if work?.message == message { work = nil }
        send(.init(message.command, on: message.channel, payload), at: now)
    }

    private mutating func refuse(_ message: CTAPHID.Message, _ code: CTAPHID.ErrorCode, at now: Instant) {
        send(.init(.error, on: message.channel, [code.rawValue]), at: now)
    }
}
