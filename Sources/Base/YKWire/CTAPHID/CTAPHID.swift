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
}
