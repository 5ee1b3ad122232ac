// SPDX-License-Identifier: Apache-2.0

package import YKTransport
import YKWire

extension FaultPlan {
    /// The result of an exchange.
    package enum Outcome: Hashable, Sendable {
        /// This reply, after this delay.
        case reply([UInt8], after: Duration)
        /// No reply.
        case silence
        /// The key is removed and comes back after a while or never.
        case removed(back: Duration?)
        /// The key must be reset.
        case reset
    }

    /// Forwards a command and applies the planned fault.
    package mutating func play(
        _ command: [UInt8], _ exchange: ([UInt8]) throws(LinkError) -> [UInt8]
    ) throws(LinkError) -> Outcome {
        switch next(command) {
        case nil: return .reply(try exchange(command), after: .zero)
        case .drop:
            _ = try exchange(command)
            return .silence
        case .delay(let duration): return .reply(try exchange(command), after: duration)
        case .truncate(let count): return .reply(Array(try exchange(command).prefix(max(0, count))), after: .zero)
        case .garbage(let bytes):
            _ = try exchange(command)
            return .reply(bytes, after: .zero)
        case .status(let status): return .reply(ResponseAPDU(status).encoded, after: .zero)
        case .endless(let withData):
            let data = [UInt8](repeating: 0, count: withData ? 32 : 0)
            return .reply(ResponseAPDU(StatusWord(0x61FF), data: data).encoded, after: .zero)
        case .ctap(let status): return .reply([status] + ResponseAPDU(.ok).encoded, after: .zero)
        case .keepalives: return .reply(ResponseAPDU(.stillWorking, data: [1]).encoded, after: .zero)
        case .remove(let back): return .removed(back: back)
        case .reset: return .reset
        case .dropReport, .removeAfter, .channel, .sequence, .nonce, .length, .storm, .error, .busy, .stall:
            return .reply(try exchange(command), after: .zero)
        }
    }
}
