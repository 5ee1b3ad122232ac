// SPDX-License-Identifier: Apache-2.0

extension CTAPHID {
    /// Reassembles the messages of one channel from reports, ignoring those of other channels.
    public struct Assembler: Sendable {
        /// The effect of a report.
        public enum Progress: Hashable, Sendable {
            /// The report belongs to another channel.
            case otherChannel
            /// The message is incomplete.
            case incomplete
            /// The message is complete.
            case message(Message)
        }

        private let channel: Channel
        private var command: Command?
        private var payload: [UInt8] = []
        private var length = 0
        private var sequence: UInt8 = 0

        /// Creates an assembler for messages on `channel`.
        public init(channel: Channel) { self.channel = channel }

        /// Whether a message is incomplete.
        public var isInMessage: Bool { command != nil }

        /// Adds one 64-byte report (CTAP 2.2 §11.2.4). An initial report discards an incomplete message.
        ///
        /// - Throws: `WireError` for a report of the wrong size, a length above 7609 bytes, a continuation without an
        ///   initial report, and a sequence number out of order; the incomplete message is then discarded.
        public mutating func add(_ report: [UInt8]) throws(WireError) -> Progress {
            guard report.count == CTAPHID.reportSize else {
                throw drop(.malformed, at: 0, "a report of \(report.count) bytes, expected \(CTAPHID.reportSize)")
            }
            guard CTAPHID.channel(of: report) == channel else { return .otherChannel }
            return report[4] & 0x80 != 0 ? try begin(report) : try carryOn(report)
        }

        private mutating func begin(_ report: [UInt8]) throws(WireError) -> Progress {
            length = Int(report[5]) << 8 | Int(report[6])
            guard length <= CTAPHID.messageLimit else {
                throw drop(.tooLarge, at: 5, "a message of \(length) bytes, at most \(CTAPHID.messageLimit)")
            }
            command = Command(rawValue: report[4] & 0x7F)
            sequence = 0
            payload = []
            payload.reserveCapacity(length)
            return take(report[7...])
        }

        private mutating func carryOn(_ report: [UInt8]) throws(WireError) -> Progress {
            guard command != nil else { throw drop(.malformed, at: 4, "a continuation without a beginning") }
            guard report[4] == sequence else {
                throw drop(.malformed, at: 4, "sequence number \(report[4]), expected \(sequence)")
            }
            sequence += 1
            return take(report[5...])
        }

        private mutating func take(_ data: ArraySlice<UInt8>) -> Progress {
            payload.append(contentsOf: data.prefix(length - payload.count))
            guard payload.count == length, let command else { return .incomplete }
            let message = Message(command, on: channel, payload)
            reset()
            return .message(message)
        }

        private mutating func drop(_ code: WireError.Code, at offset: Int, _ reason: String) -> WireError {
            reset()
            return WireError(code, at: offset, reason)
        }

        private mutating func reset() {
            command = nil
            payload = []
            length = 0
        }
    }
}
