// SPDX-License-Identifier: Apache-2.0

import YKHardware

/// The last known and the current state of a reader (SCARD_READERSTATE).
public struct ReaderState: Hashable, Sendable {
    /// The state of a reader (SCARD_STATE_…).
    public struct Flags: OptionSet, Hashable, Sendable {
        /// The bits.
        public let rawValue: UInt32
        /// Wraps bits.
        public init(rawValue: UInt32) { self.rawValue = rawValue }
        /// Ignore this reader.
        public static let ignore = Flags(rawValue: 0x0001)
        /// The state has changed.
        public static let changed = Flags(rawValue: 0x0002)
        /// There is no such reader.
        public static let unknown = Flags(rawValue: 0x0004)
        /// The reader is empty.
        public static let empty = Flags(rawValue: 0x0010)
        /// A card is in it.
        public static let present = Flags(rawValue: 0x0020)
        /// A program uses the card exclusively.
        public static let exclusive = Flags(rawValue: 0x0080)
        /// A program uses the card.
        public static let inUse = Flags(rawValue: 0x0100)
        /// The card is unresponsive.
        public static let mute = Flags(rawValue: 0x0200)

        init(_ status: ReaderStatus?) {
            guard let status else {
                self = .unknown
                return
            }
            self = status.hasCard ? .present : .empty
            if status.isInUse { insert(.inUse) }
            if status.isExclusive { insert(.exclusive) }
            if status.isMute { insert(.mute) }
        }
    }

    /// The name of the reader, or ``SmartCardContext/hotPlug``.
    public var reader: String
    /// The state known to the caller; empty if unknown.
    public var current: Flags
    /// The number of insertions and removals known to the caller.
    public var currentCount: UInt32
    /// The current state.
    public var event: Flags = []
    /// The current number of insertions and removals; for ``SmartCardContext/hotPlug`` the number of readers.
    public var eventCount: UInt32 = 0
    /// The answer to reset of the current card.
    public var atr: [UInt8] = []

    /// Creates a query for a reader, by default with an unknown state.
    public init(_ reader: String, current: Flags = [], count: UInt32 = 0) {
        self.reader = reader
        self.current = current
        currentCount = count
    }

    /// The same reader with its current state as the known one.
    public var seen: ReaderState {
        ReaderState(reader, current: event.subtracting(.changed), count: eventCount)
    }
}
