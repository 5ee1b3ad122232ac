// SPDX-License-Identifier: Apache-2.0

extension CTAPHID {
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
