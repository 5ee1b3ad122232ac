// SPDX-License-Identifier: Apache-2.0

/// The framing of FIDO messages over HID (CTAP 2.2 §11.2): messages of up to 7609 bytes in 64-byte reports.
public enum CTAPHID {
    /// The size of a report, in bytes.
    public static let reportSize = 64
    /// The payload size of the first report of a message, in bytes.
    public static let initialCapacity = 57
    /// The payload size of each further report, in bytes.
    public static let continuationCapacity = 59
    /// The maximum message size in bytes: one initial and 128 continuation reports.
    public static let messageLimit = 7609

    /// The channel of a report. Every program that uses a key sees the reports of all channels.
    public struct Channel: OpenSet {
        /// The channel's number, sent most significant byte first.
        public let rawValue: UInt32
        /// Wraps a number.
        public init(rawValue: UInt32) { self.rawValue = rawValue }
        /// The channel used to request a channel.
        public static let broadcast = Channel(rawValue: 0xFFFF_FFFF)

        /// The four bytes, most significant first.
        public var bytes: [UInt8] { [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: rawValue >> $0) } }
        /// Eight hexadecimal digits.
        public var description: String { Hex.encode(bytes) }
    }

    /// The channel of a 64-byte report.
    static func channel(of report: [UInt8]) -> Channel {
        Channel(rawValue: report.prefix(4).reduce(0) { $0 << 8 | UInt32($1) })
    }

    /// The command of a message, without the bit 0x80 that marks an initial report.
    public struct Command: OpenSet {
        /// The command number, 00 to 7F.
        public let rawValue: UInt8
        /// Wraps a number.
        public init(rawValue: UInt8) { self.rawValue = rawValue }
        /// Echo.
        public static let ping = Command(rawValue: 0x01)
        /// A U2F message.
        public static let msg = Command(rawValue: 0x03)
        /// Lock the key to this channel for some seconds.
        public static let lock = Command(rawValue: 0x04)
        /// Allocate a channel, or resynchronize one.
        public static let initialize = Command(rawValue: 0x06)
        /// Blink.
        public static let wink = Command(rawValue: 0x08)
        /// A CTAP2 message.
        public static let cbor = Command(rawValue: 0x10)
        /// Cancel the pending request on this channel.
        public static let cancel = Command(rawValue: 0x11)
        /// The key is processing, or waits for its user.
        public static let keepalive = Command(rawValue: 0x3B)
        /// The key refuses the message.
        public static let error = Command(rawValue: 0x3F)

        /// Whether the number is in the vendor range.
        public var isVendor: Bool { rawValue >= 0x40 }
        /// The name in the specification, else the number.
        public var description: String { Self.names[self] ?? "command \(Hex.encode([rawValue]))" }

        private static let names: [Command: String] = [
            .ping: "PING", .msg: "MSG", .lock: "LOCK", .initialize: "INIT", .wink: "WINK", .cbor: "CBOR",
            .cancel: "CANCEL", .keepalive: "KEEPALIVE", .error: "ERROR",
        ]
    }

    /// A whole message.
    public struct Message: Hashable, Sendable {
        /// The channel.
        public let channel: Channel
        /// The command.
        public let command: Command
        /// The payload, at most 7609 bytes.
        public let payload: [UInt8]

        /// Creates a message.
        public init(_ command: Command, on channel: Channel, _ payload: [UInt8] = []) {
            self.channel = channel
            self.command = command
            self.payload = payload
        }
    }

    /// Why a key refuses a message (CTAP 2.2 §11.2.9.1.6).
    public struct ErrorCode: OpenSet {
        /// The code.
        public let rawValue: UInt8
        /// Wraps a code.
        public init(rawValue: UInt8) { self.rawValue = rawValue }
        /// The command is unknown.
        public static let invalidCommand = ErrorCode(rawValue: 0x01)
        /// A parameter is wrong.
        public static let invalidParameter = ErrorCode(rawValue: 0x02)
        /// The length is wrong.
        public static let invalidLength = ErrorCode(rawValue: 0x03)
        /// A continuation arrived out of order.
        public static let invalidSequence = ErrorCode(rawValue: 0x04)
        /// The message was not completed in time.
        public static let timeout = ErrorCode(rawValue: 0x05)
        /// The key is busy with another program.
        public static let channelBusy = ErrorCode(rawValue: 0x06)
        /// The command needs the channel to be locked.
        public static let lockRequired = ErrorCode(rawValue: 0x0A)
        /// The channel is not valid.
        public static let invalidChannel = ErrorCode(rawValue: 0x0B)
        /// Anything else.
        public static let other = ErrorCode(rawValue: 0x7F)

        /// The meaning of the code, or its number.
        public var description: String { Self.meanings[self] ?? "error \(Hex.encode([rawValue]))" }

        private static let meanings: [ErrorCode: String] = [
            .invalidCommand: "invalid command", .invalidParameter: "invalid parameter",
            .invalidLength: "invalid length", .invalidSequence: "invalid sequence", .timeout: "timeout",
            .channelBusy: "channel busy", .lockRequired: "lock required", .invalidChannel: "invalid channel",
            .other: "other error",
        ]
    }
}

extension CTAPHID.Message {
    /// The message as 64-byte reports, the last one padded with zeros (CTAP 2.2 §11.2.4).
    ///
    /// - Throws: `tooLarge` for a payload above 7609 bytes.
    public func reports() throws(WireError) -> [[UInt8]] {
        guard payload.count <= CTAPHID.messageLimit else {
            throw WireError(.tooLarge, at: 0, "\(payload.count) bytes, a message has at most \(CTAPHID.messageLimit)")
        }
        let length = payload.count
        let rest = max(0, length - CTAPHID.initialCapacity)
        var reports: [[UInt8]] = []
        reports.reserveCapacity(1 + (rest + CTAPHID.continuationCapacity - 1) / CTAPHID.continuationCapacity)
        reports.append(
            report(0..<min(length, CTAPHID.initialCapacity)) { head in
                head[4] = 0x80 | command.rawValue
                head[5] = UInt8(truncatingIfNeeded: length >> 8)
                head[6] = UInt8(truncatingIfNeeded: length)
                return 7
            })
        for start in stride(from: CTAPHID.initialCapacity, to: length, by: CTAPHID.continuationCapacity) {
            let sequence = UInt8(truncatingIfNeeded: reports.count - 1)
            reports.append(
                report(start..<min(length, start + CTAPHID.continuationCapacity)) { head in
                    head[4] = sequence
                    return 5
                })
        }
        return reports
    }

    /// A report with a head and part of the payload; `head` returns the length of the head.
    private func report(
        _ part: Range<Int>, head: (UnsafeMutableBufferPointer<UInt8>) -> Int
    ) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: CTAPHID.reportSize) { buffer, count in
            buffer.initialize(repeating: 0)
            for index in 0..<4 { buffer[index] = UInt8(truncatingIfNeeded: channel.rawValue >> (24 - 8 * index)) }
            let start = head(buffer)
            for (index, byte) in payload[part].enumerated() { buffer[start + index] = byte }
            count = CTAPHID.reportSize
        }
    }
}

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
