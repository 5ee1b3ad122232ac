// SPDX-License-Identifier: Apache-2.0

import YKTransport

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
            /// A request to a server, and what came of it.
            indirect case http(HTTPExchange)
            /// Something that happened to the link itself.
            case link(LinkEvent, why: String?)
        }

        /// What happened to a link. An open set.
        public struct LinkEvent: RawRepresentable, Hashable, Sendable {
            /// The word in the file.
            public let rawValue: String
            /// Wraps a word.
            public init(rawValue: String) { self.rawValue = rawValue }
            /// The card was powered.
            public static let powerOn = LinkEvent(rawValue: "power-on")
            /// The card's power was taken away.
            public static let powerOff = LinkEvent(rawValue: "power-off")
            /// The card was reset.
            public static let reset = LinkEvent(rawValue: "reset")
            /// The card or key was taken away.
            public static let removed = LinkEvent(rawValue: "removed")
            /// The host looked at the clock; written where the time is later than the event before says.
            public static let time = LinkEvent(rawValue: "time")
            /// The link failed.
            public static let fail = LinkEvent(rawValue: "fail")
        }

        /// A run of bytes: where it starts and how long it is.
        public struct Mask: Sendable, Hashable {
            /// The index of the first byte.
            public let offset: Int
            /// The number of bytes.
            public let length: Int

            /// Makes a run.
            public init(offset: Int, length: Int) {
                self.offset = offset
                self.length = length
            }
        }

        /// What happened.
        public var kind: Kind
        /// Milliseconds since the first event.
        public var milliseconds: Double?
        /// Bytes of the command or written report that held a secret.
        public var commandMask: [Mask] = []
        /// Bytes of the reply or delivered report that held a secret.
        public var replyMask: [Mask] = []
        /// The line in the file, the header being line 1; 0 for an event that was not read from a file.
        public var line = 0

        /// Makes an event.
        public init(_ kind: Kind, milliseconds: Double? = nil) {
            self.kind = kind
            self.milliseconds = milliseconds
        }
    }
}

extension [UInt8] {
    /// The bytes with the masked runs overwritten by zeros; a run that sticks out is cut.
    package func masked(_ masks: [Capture.Event.Mask]) -> [UInt8] {
        var bytes = self
        for mask in masks where mask.offset >= 0 && mask.offset < count && mask.length > 0 {
            let end = Swift.min(count, mask.end)
            for index in mask.offset..<Swift.max(mask.offset, end) { bytes[index] = 0 }
        }
        return bytes
    }
}
