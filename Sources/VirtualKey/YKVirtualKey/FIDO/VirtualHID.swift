// SPDX-License-Identifier: Apache-2.0

import YKProtocols
import YKTransport
package import YKWire

/// The device's side of CTAPHID (CTAP 2.2 §11.2): reports in, reports out, for any number of channels.
///
/// A value type without I/O or a clock. The owner passes incoming reports to ``receive(_:at:_:)``, calls
/// ``poll(at:_:)`` after the time given by ``pause(at:)``, and sends what ``next(at:)`` returns.
package struct VirtualHID: Sendable {
    /// A point in time.
    package typealias Instant = ContinuousClock.Instant

    /// The outcome of a message.
    package enum Outcome: Sendable {
        /// The answer.
        case answer([UInt8])
        /// The message is refused.
        case refused(CTAPHID.ErrorCode)
        /// The key waits for a touch; the message is to be retried.
        case waiting
        /// The key generates a key pair; the message is to be retried.
        case computing
    }

    /// A message in progress.
    struct Work: Sendable {
        let message: CTAPHID.Message
        /// The status in the last keepalive, and when it was sent: 1 for computing, 2 for waiting for a touch (CTAP 2.2
        /// §11.2.9.1.7).
        var doing: UInt8
        var lastSign: Instant
        /// When the key began to wait for a touch; `nil` while it does not.
        var waitsSince: Instant?
    }

    /// An incomplete message.
    struct Beginning: Sendable {
        let channel: CTAPHID.Channel
        var assembler: CTAPHID.Assembler
        var last: Instant
    }

    /// How long the key waits for a touch.
    package var touchTime: Duration = .seconds(30)
    /// The maximum time between two reports of a message (CTAP 2.2 §11.2.5.2).
    var messageTime: Duration = .milliseconds(500)
    /// The time between keepalives (CTAP 2.2 §11.2.9.1.7).
    static let keepalivePeriod = Duration.milliseconds(100)

    /// The number of channels that can be used at the same time.
    static let channelLimit: UInt32 = 65536

    let version: [UInt8]
    /// The capabilities in the answer to INIT: wink (01), CTAP2 (04), no U2F (08).
    package var capabilities: UInt8 = 0x05
    var faults: FaultPlan
    var fault: FaultPlan.Fault?
    var busyLeft = 0
    /// A fault triggered by a report, to be applied to its message.
    var spoiling: FaultPlan.Fault?
    /// Reports and their due times; `nil` marks the removal of the key.
    var outgoing: [(due: Instant, report: [UInt8]?)] = []
    var work: Work?
    /// Set once a fault has removed the key.
    package internal(set) var absence: FaultPlan.Absence?
    /// How often the host has asked the key to blink.
    package private(set) var winks = 0

    private var nextChannel: UInt32 = 1
    private var beginning: Beginning?
    private var lock: (channel: CTAPHID.Channel, until: Instant)?

    /// Creates a device in its initial state; `version` has the three numbers for the answer to INIT.
    package init(version: [UInt8] = [5, 7, 1], faults: FaultPlan = FaultPlan()) {
        self.version = version
        self.faults = faults
    }

    /// Creates the FIDO interface of a key with the applications enabled there.
    package init(_ key: VirtualKeyState, faults: FaultPlan = FaultPlan()) {
        self.init(version: key.profile.version.bytes, faults: faults)
        setCapabilities(key)
    }

    /// Updates the capabilities to the enabled applications, as a key does when it is plugged in.
    package mutating func setCapabilities(_ key: VirtualKeyState) {
        let enabled = key.enabled(over: .usb)
        capabilities =
            0x01 | (enabled & VirtualCapability.fido2 != 0 ? 0x04 : 0)
            | (enabled & VirtualCapability.u2f != 0 ? 0 : 0x08)
    }

    /// The device after being plugged in again: in its initial state, but with the fault plan continued.
    package var replugged: VirtualHID {
        var device = VirtualHID(version: version, faults: faults)
        device.touchTime = touchTime
        device.capabilities = capabilities
        return device
    }

    /// Processes a report; `run` executes CTAP2 and U2F messages.
    package mutating func receive(_ report: [UInt8], at now: Instant, _ run: (CTAPHID.Message) -> Outcome) {
        guard absence == nil, report.count == CTAPHID.reportSize, admit(at: now) else { return }
        let channel = CTAPHID.Channel(rawValue: report[..<4].reduce(0) { $0 << 8 | UInt32($1) })
        let command = report[4] & 0x80 != 0 ? CTAPHID.Command(rawValue: report[4] & 0x7F) : nil
        // On a busy machine a continuation that the host sent in time may be read late, so only `poll` decides that
        // none came.
        if command != nil || beginning?.channel != channel { expire(at: now) }
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

    /// Performs work that is due: retries waiting messages, sends keepalives and drops abandoned messages.
    package mutating func poll(at now: Instant, _ run: (CTAPHID.Message) -> Outcome) {
        expire(at: now)
        guard let work else { return }
        if let since = work.waitsSince, since.duration(to: now) >= touchTime, !isEndless {
            finish(work.message, Self.timeoutAnswer(work.message.command), at: now)
        } else {
            attempt(work.message, at: now, run)
        }
    }

    /// The answer to a message when the key was not touched: a CTAP2 status, or the status word of a command.
    private static func timeoutAnswer(_ command: CTAPHID.Command) -> [UInt8] {
        guard command.isVendor else { return [CTAPProtocol.Status.userActionTimeout] }
        let status = StatusWord.securityStatusNotSatisfied
        return [status.sw1, status.sw2]
    }

    /// Removes and returns the next report that is due.
    package mutating func next(at now: Instant) -> [UInt8]? {
        guard let first = outgoing.first, first.due <= now else { return nil }
        if let report = outgoing.removeFirst().report { return report }
        leave(.forGood)
        return nil
    }

    /// The time until work is due; `nil` if there is none until a report arrives.
    package func pause(at now: Instant) -> Duration? {
        var ends = outgoing.prefix(1).map(\.due)
        if work != nil { ends.append(now.advanced(by: .milliseconds(10))) }
        if let beginning { ends.append(beginning.last.advanced(by: messageTime)) }
        return ends.min().map { max(.zero, now.duration(to: $0)) }
    }

    // MARK: - From reports to messages

    /// Why a report is rejected (CTAP 2.2 §11.2.5); INIT on the broadcast channel never is.
    private func refusal(_ channel: CTAPHID.Channel, _ command: CTAPHID.Command?) -> CTAPHID.ErrorCode? {
        if channel == .broadcast { return command == .initialize ? nil : .invalidChannel }
        guard isAllocated(channel) else { return .invalidChannel }
        if let beginning, beginning.channel != channel { return .channelBusy }
        if let lock, lock.channel != channel { return .channelBusy }
        return nil
    }

    /// Whether a channel is among those allocated last: channels are never closed, and any number can be requested.
    private func isAllocated(_ channel: CTAPHID.Channel) -> Bool {
        channel.rawValue != 0 && channel.rawValue < nextChannel && nextChannel - channel.rawValue <= Self.channelLimit
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
        if let work, work.doing == doing, work.lastSign.duration(to: now) < Self.keepalivePeriod { return }
        let waitsSince = doing == 0x02 ? work?.waitsSince ?? now : nil
        work = Work(message: message, doing: doing, lastSign: now, waitsSince: waitsSince)
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
            nextChannel = nextChannel == .max - 1 ? 1 : nextChannel + 1
        } else if work?.message.channel == channel {
            work = nil
        }
        // Protocol version 2.
        let facts = channel.bytes + [2] + version + [capabilities]
        send(.init(.initialize, on: message.channel, message.payload + facts), at: now)
    }

    private mutating func cancel(_ message: CTAPHID.Message, at now: Instant) {
        // U2F has no answer that says so (CTAP 2.2 §11.2.9.1.5).
        guard let work, work.message.channel == message.channel, work.message.command != .msg, !isEndless else {
            return
        }
        finish(work.message, [CTAPProtocol.Status.keepaliveCancel], at: now)
    }

    private mutating func finish(_ message: CTAPHID.Message, _ payload: [UInt8], at now: Instant) {
        if work?.message == message { work = nil }
        send(.init(message.command, on: message.channel, payload), at: now)
    }

    private mutating func refuse(_ message: CTAPHID.Message, _ code: CTAPHID.ErrorCode, at now: Instant) {
        send(.init(.error, on: message.channel, [code.rawValue]), at: now)
    }

    /// The message in progress; `nil` once it was answered, cancelled, or dropped by INIT.
    package var pending: CTAPHID.Message? { work?.message }

    /// Drops the message in progress without an answer.
    package mutating func drop() { work = nil }
}
