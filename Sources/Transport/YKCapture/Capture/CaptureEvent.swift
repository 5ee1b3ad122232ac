// SPDX-License-Identifier: Apache-2.0

import YKTransport
public import YKWire

extension Capture {
    /// One line of a capture after the header.
    public struct Event: Sendable, Hashable {
        /// What happened.
        public enum Kind: Sendable, Hashable {
            /// A command APDU as sent, and the response APDU as received.
            case exchange(command: [UInt8], reply: [UInt8])
            /// A report that the host wrote.
            case written([UInt8])
            /// A report that the device delivered.
            case delivered([UInt8])
            /// A feature report that the host set.
            case featureSet([UInt8])
            /// A feature report that the host got.
            case featureGot([UInt8])
            /// A request to a server, and its outcome.
            indirect case http(HTTPExchange)
            /// Something that happened to the link itself.
            case link(LinkEvent, why: String?)
        }

        /// An event of a link.
        public struct LinkEvent: OpenSet {
            /// The word in the file.
            public let rawValue: String
            /// Wraps a word.
            public init(rawValue: String) { self.rawValue = rawValue }
            /// The card was powered.
            public static let powerOn = LinkEvent(rawValue: "power-on")
            /// The card was powered off.
            public static let powerOff = LinkEvent(rawValue: "power-off")
            /// The card was reset.
            public static let reset = LinkEvent(rawValue: "reset")
            /// The card or key was removed.
            public static let removed = LinkEvent(rawValue: "removed")
            /// The host read the clock; written when the time is later than the previous event implies.
            public static let time = LinkEvent(rawValue: "time")
            /// The link failed.
            public static let fail = LinkEvent(rawValue: "fail")
        }

        /// A range of bytes: its start and length.
        public struct Mask: Sendable, Hashable {
            /// The index of the first byte.
            public let offset: Int
            /// The number of bytes.
            public let length: Int

            /// Creates a range.
            public init(offset: Int, length: Int) {
                self.offset = offset
                self.length = length
            }
        }

        /// What happened.
        public var kind: Kind
        /// Milliseconds since the first event, as the file has them.
        package var milliseconds: Double?
        /// The time since the first event. Times of more than 30,000 years, which only a broken file has, are clamped.
        public var time: Duration? {
            get { milliseconds.map { .milliseconds(min(max($0, -1e15), 1e15)) } }
            set { milliseconds = newValue.map { $0 / .milliseconds(1) } }
        }
        /// The secret ranges of the command or written report.
        public var commandMask: [Mask] = []
        /// The secret ranges of the reply or received report.
        public var replyMask: [Mask] = []
        /// The line in the file, the header being line 1; 0 for an event that was not read from a file.
        public var line = 0

        /// Creates an event.
        public init(_ kind: Kind, time: Duration? = nil) {
            self.kind = kind
            self.time = time
        }

        package init(_ kind: Kind, milliseconds: Double?) {
            self.kind = kind
            self.milliseconds = milliseconds
        }
    }
}

extension [UInt8] {
    /// The bytes with the masked ranges overwritten by zeros; ranges are clamped to the bounds.
    package func masked(_ masks: [Capture.Event.Mask]) -> [UInt8] {
        var bytes = self
        for mask in masks where mask.offset >= 0 && mask.offset < count && mask.length > 0 {
            let end = Swift.min(count, mask.end)
            for index in mask.offset..<Swift.max(mask.offset, end) { bytes[index] = 0 }
        }
        return bytes
    }
}
