// SPDX-License-Identifier: Apache-2.0

package import YKTransport
import YKVirtualKey

/// A card in the reader of vpcd, for a program that answers its commands later. The card is removed at the end of its life.
package struct VPCDSlot: ~Copyable {
    /// What comes from the reader.
    package enum Message: Hashable, Sendable {
        /// Power is given or cut, or the card is reset: one byte as in vpcd's protocol. There is no answer.
        case power([UInt8])
        /// A command APDU, which ``answer(_:)`` follows.
        case command([UInt8])
        /// The reader is gone.
        case gone
    }

    private let stream: Stream
    private let atr: [UInt8]
    private let cancellation: Cancellation
    private var assembler = VPCDAssembler()
    private var waiting: [Message] = []

    /// Inserts a card with this answer to reset.
    ///
    /// - Throws: `unknownHost` or `notReachable`.
    package init(_ atr: [UInt8], at address: VPCDAddress, cancellation: Cancellation) throws(VPCDError) {
        stream = try Stream(address, cancellation)
        (self.atr, self.cancellation) = (atr, cancellation)
    }

    /// Returns the next message; `nil` if none comes within `limit`. The answer to reset is given here.
    package mutating func next(within limit: Duration) -> Message? {
        if waiting.isEmpty, let bytes = stream.receive(within: limit, cancellation) {
            if bytes.isEmpty { return .gone }
            for message in assembler.feed(bytes) { take(message) }
        }
        return waiting.isEmpty ? nil : waiting.removeFirst()
    }

    private mutating func take(_ message: VPCDMessage) {
        switch message {
        case .powerOff: waiting.append(.power([0]))
        case .powerOn: waiting.append(.power([1]))
        case .reset: waiting.append(.power([2]))
        case .answerToReset: answer(atr)
        case .command(let command): waiting.append(.command(command))
        case .unknown: break
        }
    }

    /// Answers the command that came last.
    package borrowing func answer(_ response: [UInt8]) {
        // A reader that takes nothing is gone, which the next message shows.
        _ = stream.send(VPCDMessage.frame(response), cancellation)
    }
}
