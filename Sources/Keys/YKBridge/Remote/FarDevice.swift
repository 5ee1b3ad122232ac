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

    init(_ authenticator: FarAuthenticator) {
        self.authenticator = authenticator
        // The authenticator decides how long it waits.
        hid.touchTime = .seconds(24 * 3600)
        // CTAP2 only: U2F messages contain just a hash of the site's name, so the user could not be asked about it.
        hid.capabilities = 0x04 | 0x08
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

    /// A request whose reply has not been delivered.
    private struct Outstanding {
        let number: UInt32
        /// The message that waits for the reply; `nil` if it was cancelled.
        var message: CTAPHID.Message?
        let since: Instant
        var isTouch = false
        var reply: [UInt8]?
    }

    private var conversation: FarConversation
    private let info: [UInt8]
    private let patience: Duration
    private var outstanding: Outstanding?
    /// A message that waits for the end of another one.
    private var waiting: (message: CTAPHID.Message, since: Instant)?

    init(
        _ channel: RemoteChannel, _ inbox: RemoteInbox, info: [UInt8], patience: Duration, at now: Instant = .now
    ) {
        conversation = FarConversation(channel, inbox, at: now)
        (self.info, self.patience) = (info, patience)
    }

    /// How the connection ended; `nil` while it lasts.
    var result: Result<Void, RemoteError>? { conversation.result }

    /// Begins or continues a message.
    func run(_ message: CTAPHID.Message, at now: Instant) -> VirtualHID.Outcome {
        guard message.command == .cbor else { return .refused(.invalidCommand) }
        if message.payload == [CTAPProtocol.Command.getInfo] { return .answer(info) }
        guard let outstanding else { return start(message, at: now) }
        guard outstanding.message == message else { return wait(message, at: now) }
        if let reply = outstanding.reply {
            self.outstanding = nil
            return .answer(reply)
        }
        guard outstanding.since.duration(to: now) < patience else {
            abandon()
            return .answer([Status.userActionTimeout])
        }
        return outstanding.isTouch ? .waiting : .computing
    }

    private func start(_ message: CTAPHID.Message, at now: Instant) -> VirtualHID.Outcome {
        waiting = nil
        guard let number = conversation.request(message.payload) else { return .answer([Status.other]) }
        outstanding = Outstanding(number: number, message: message, since: now)
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
        if let pending = outstanding?.message, pending != message { abandon() }
        if let waiting, waiting.message != message { self.waiting = nil }
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
