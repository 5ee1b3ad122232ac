// SPDX-License-Identifier: Apache-2.0

import YKProtocols
import YKVirtualKey
import YKVirtualKeyHost
import YKWire

/// The CTAPHID device that programs at the far end see. INIT, PING, LOCK, KEEPALIVE and getInfo are answered here.
struct FarDevice: ReportDevice {
    private var hid = VirtualHID(version: [1, 0, 0])
    private let authenticator: FarAuthenticator
    private var isDone = false

    /// - Parameter hasU2F: Whether U2F messages are passed on. For a key of another machine they are not: they contain
    ///   just a hash of the site's name, so the user could not be asked about it.
    init(_ authenticator: FarAuthenticator, hasU2F: Bool = false) {
        self.authenticator = authenticator
        // The authenticator decides how long it waits.
        hid.touchTime = .seconds(24 * 3600)
        hid.capabilities = hasU2F ? 0x04 : 0x04 | 0x08
    }

    var isUnplugged: Bool { isDone }

    mutating func receive(_ report: [UInt8], at now: ContinuousClock.Instant) {
        hid.receive(report, at: now) { [authenticator] in authenticator.run($0, at: now) }
        authenticator.keep(hid.pending, at: now)
    }

    mutating func poll(at now: ContinuousClock.Instant) {
        authenticator.poll(at: now)
        hid.poll(at: now) { [authenticator] in authenticator.run($0, at: now) }
        authenticator.keep(hid.pending, at: now)
        isDone = authenticator.result != nil
    }

    mutating func next(at now: ContinuousClock.Instant) -> [UInt8]? { hid.next(at: now) }

    func pause(at now: ContinuousClock.Instant) -> Duration? { hid.pause(at: now) }

    func idlePause(at now: ContinuousClock.Instant) -> Duration? { authenticator.pause(at: now) }

    mutating func closed(at now: ContinuousClock.Instant) {
        hid.drop()
        authenticator.keep(nil, at: now)
    }
}

/// Passes messages to the near end, one at a time, on the thread of the device.
final class FarAuthenticator {
    typealias Instant = ContinuousClock.Instant
    private typealias Status = CTAPProtocol.Status

    /// How long a message waits for a cancelled one to end.
    private static let busyTime = Duration.seconds(30)
    /// How long a U2F message waits for the user before its program is told that nobody is there, and how long for the
    /// program to repeat it.
    private static let (pollTime, repeatTime) = (Duration.milliseconds(500), Duration.seconds(3))

    /// A request whose reply has not been delivered.
    private struct Outstanding {
        let number: UInt32
        /// The message that waits for the reply; `nil` if it was cancelled.
        var message: CTAPHID.Message?
        let since: Instant
        /// Whether it is a U2F message whose program asks again while the user is awaited.
        let awaitsUser: Bool
        var isTouch = false
        var reply: [UInt8]?
        /// For a U2F message: when the program sent it last, and when it was told that nobody is there; `nil` while it
        /// waits.
        var asked: Instant
        var told: Instant?
    }

    private var conversation: FarConversation
    private let info: [UInt8]
    private let patience: Duration
    private let hasU2F: Bool
    private var outstanding: Outstanding?
    /// A message that waits for the end of another one.
    private var waiting: (message: CTAPHID.Message, since: Instant)?

    init(
        _ channel: RemoteChannel, _ inbox: RemoteInbox, info: [UInt8], patience: Duration, hasU2F: Bool = false,
        at now: Instant = .now
    ) {
        conversation = FarConversation(channel, inbox, at: now)
        (self.info, self.patience, self.hasU2F) = (info, patience, hasU2F)
    }

    /// How the connection ended; `nil` while it lasts.
    var result: Result<Void, RemoteError>? { conversation.result }

    /// The time until a sign of life is due or a U2F message is given up; `nil` if none is. A frame wakes the device.
    func pause(at now: Instant) -> Duration? {
        let end = outstanding?.told.map { max(.zero, now.duration(to: $0) + Self.repeatTime) }
        return [conversation.pause(at: now), end].compactMap(\.self).min()
    }

    /// Begins or continues a message.
    func run(_ message: CTAPHID.Message, at now: Instant) -> VirtualHID.Outcome {
        guard message.command == .cbor || message.command == .msg && hasU2F else { return .refused(.invalidCommand) }
        if message.payload == [CTAPProtocol.Command.getInfo] { return .answer(info) }
        guard let outstanding else { return start(message, at: now) }
        guard outstanding.message == message else { return wait(message, at: now) }
        if let reply = outstanding.reply {
            self.outstanding = nil
            return .answer(reply)
        }
        guard outstanding.since.duration(to: now) < patience else {
            abandon()
            let status = Status.userActionTimeout
            return .answer(message.command == .msg ? U2FRequest.answer(status) : [status])
        }
        if outstanding.awaitsUser {
            if outstanding.told != nil {
                self.outstanding?.asked = now
                self.outstanding?.told = nil
            } else if outstanding.asked.duration(to: now) >= Self.pollTime {
                self.outstanding?.told = now
                return .answer(U2FRequest.answer(Status.userPresenceRequired))
            }
        }
        return outstanding.isTouch ? .waiting : .computing
    }

    private func start(_ message: CTAPHID.Message, at now: Instant) -> VirtualHID.Outcome {
        waiting = nil
        guard let number = conversation.request(message.payload) else { return .answer([Status.other]) }
        let awaitsUser = message.command == .msg && U2FRequest.awaitsUser(message.payload)
        outstanding = Outstanding(number: number, message: message, since: now, awaitsUser: awaitsUser, asked: now)
        return .computing
    }

    private func wait(_ message: CTAPHID.Message, at now: Instant) -> VirtualHID.Outcome {
        let since = waiting?.message == message ? waiting?.since ?? now : now
        waiting = (message, since)
        guard since.duration(to: now) < Self.busyTime else { return .answer([Status.channelBusy]) }
        return .computing
    }

    /// Cancels the request if its message is no longer pending, because it was cancelled or dropped by the program.
    func keep(_ message: CTAPHID.Message?, at now: Instant) {
        if let pending = outstanding?.message, pending != message, !isRepeatable(at: now) { abandon() }
        if let waiting, waiting.message != message { self.waiting = nil }
    }

    /// Whether the outstanding message is one of U2F that its program may still repeat.
    private func isRepeatable(at now: Instant) -> Bool {
        outstanding?.told.map { $0.duration(to: now) < Self.repeatTime } ?? false
    }

    private func abandon() {
        guard let outstanding, outstanding.message != nil else { return }
        if outstanding.reply != nil {
            self.outstanding = nil
        } else {
            self.outstanding?.message = nil
            conversation.cancel(outstanding.number)
        }
    }

    /// Processes the received frames, and sends a sign of life when one is due.
    func poll(at now: Instant) { conversation.poll(at: now, take) }

    private func take(_ frame: RemoteFrame) throws(RemoteError) {
        switch frame {
        case .touch(let number) where number == outstanding?.number: outstanding?.isTouch = true
        case .reply(let number, let answer) where number == outstanding?.number && outstanding?.reply == nil:
            if outstanding?.message == nil { outstanding = nil } else { outstanding?.reply = answer }
        default: throw .violation(.unexpected)
        }
    }
}
