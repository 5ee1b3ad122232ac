// SPDX-License-Identifier: Apache-2.0

import YKTransport
import YKVirtualKeyHost
import YKWire

/// The reader that programs at the far end see: a card in vpcd's reader, there as long as the connection. It decides nothing;
/// what vpcd sends goes to the near end, one message at a time.
final class FarReader {
    private typealias Instant = ContinuousClock.Instant

    /// How long a reader that went away is waited for, for example while pcscd restarts, before it is looked for again.
    private static let returnTime = Duration.seconds(1)

    private let channel: RemoteChannel
    private let inbox: RemoteInbox
    private let wake: Wake
    private let cancellation: Cancellation
    private let report: (BridgeEvent) -> Void
    private var numbers: UInt32 = 0
    /// The reply to the message under way.
    private var reply: [UInt8]?
    private var isWaiting = false
    private var (heard, shown) = (ContinuousClock.now, ContinuousClock.now)
    /// How the connection ended; `nil` while it lasts.
    private var result: Result<Void, RemoteError>?

    init(
        _ channel: RemoteChannel, _ inbox: RemoteInbox, _ wake: Wake, _ cancellation: Cancellation,
        report: @escaping (BridgeEvent) -> Void
    ) {
        (self.channel, self.inbox, self.wake) = (channel, inbox, wake)
        (self.cancellation, self.report) = (cancellation, report)
    }

    private var isOver: Bool { result != nil || cancellation.isCancelled }

    /// Serves until the connection ends, or it is cancelled.
    ///
    /// - Throws: `reader` if there is none at first, and why the connection ended.
    func serve(_ atr: [UInt8], at address: VPCDAddress) throws(RemoteError) {
        var wasInserted = false
        while !isOver {
            do throws(VPCDError) {
                var slot = try VPCDSlot(atr, at: address, cancellation: cancellation)
                wasInserted = true
                report(.cardInserted(address))
                serve(&slot)
                report(.removed)
                if !isOver { _ = pass([0]) }
            } catch {
                guard wasInserted else { throw .reader(error) }
            }
            let back = ContinuousClock.now.advanced(by: Self.returnTime)
            while !isOver, .now < back { follow() }
        }
        if case .failure(let error)? = result { throw error }
    }

    private func serve(_ slot: inout VPCDSlot) {
        while !isOver {
            switch slot.next(within: .milliseconds(20)) {
            case .gone?: return
            case .power(let message)?: _ = pass(message)
            case .command(let command)?:
                if let answer = pass(command) { slot.answer(answer) }
            case nil: break
            }
            poll()
        }
    }

    /// Passes a message to the near end and returns its reply; `nil` if the connection ended before.
    private func pass(_ message: [UInt8]) -> [UInt8]? {
        guard message.count <= CTAPHID.messageLimit else { return ResponseAPDU(.wrongLength).encoded }
        numbers &+= 1
        (reply, isWaiting) = (nil, true)
        defer { isWaiting = false }
        guard channel.send(.request(numbers, message)) else {
            result = .failure(.lost)
            return nil
        }
        poll()
        while reply == nil, !isOver { follow() }
        return reply
    }

    /// Waits a moment for what comes from the near end.
    private func follow() {
        wake.wait(for: .milliseconds(50))
        poll()
    }

    /// Processes what has come, and shows that this end is there.
    private func poll() {
        guard result == nil else { return }
        let now = ContinuousClock.now
        do throws(RemoteError) {
            while let frame = try inbox.next() {
                heard = now
                try take(frame)
            }
        } catch { result = .failure(error) }
        if heard.duration(to: now) > FarAuthenticator.silence { result = .failure(.lost) }
        guard result == nil, shown.duration(to: now) >= FarAuthenticator.pulse else { return }
        shown = now
        if !channel.send(.alive) { result = .failure(.lost) }
    }

    private func take(_ frame: RemoteFrame) throws(RemoteError) {
        switch frame {
        case .reply(let number, let answer) where number == numbers && isWaiting && reply == nil: reply = answer
        case .alive: break
        case .end(let ending):
            result = ending.reason == .done ? .success(()) : .failure(.ended(ending))
        default: throw .violation(.unexpected)
        }
    }
}
