// SPDX-License-Identifier: Apache-2.0

import YKTransport
import YKVirtualKeyHost
import YKWire

/// The reader that programs at the far end see: a card in vpcd's reader, there as long as the connection. It decides nothing;
/// what vpcd sends goes to the near end, one message at a time.
final class FarReader {
    /// How long a reader that went away is waited for, for example while pcscd restarts, before it is looked for again.
    private static let returnTime = Duration.seconds(1)

    private var conversation: FarConversation
    private let wake: Wake
    private let cancellation: Cancellation
    private let report: (BridgeEvent) -> Void
    /// The request whose reply is awaited, and the reply.
    private var outstanding: (number: UInt32, reply: [UInt8]?)?

    init(
        _ channel: RemoteChannel, _ inbox: RemoteInbox, _ wake: Wake, _ cancellation: Cancellation,
        report: @escaping (BridgeEvent) -> Void
    ) {
        (conversation, self.wake) = (FarConversation(channel, inbox), wake)
        (self.cancellation, self.report) = (cancellation, report)
    }

    private var isOver: Bool { conversation.result != nil || cancellation.isCancelled }

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
        if case .failure(let error)? = conversation.result { throw error }
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
        guard let number = conversation.request(message) else { return nil }
        outstanding = (number, nil)
        defer { outstanding = nil }
        poll()
        while outstanding?.reply == nil, !isOver { follow() }
        return outstanding?.reply
    }

    /// Waits a moment for what comes from the near end.
    private func follow() {
        wake.wait(for: .milliseconds(50))
        poll()
    }

    private func poll() { conversation.poll(at: .now, take) }

    private func take(_ frame: RemoteFrame) throws(RemoteError) {
        guard case .reply(let number, let answer) = frame, let outstanding, outstanding.number == number,
            outstanding.reply == nil
        else { throw .violation(.unexpected) }
        self.outstanding?.reply = answer
    }
}
