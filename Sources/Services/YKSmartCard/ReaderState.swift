// SPDX-License-Identifier: Apache-2.0

import YKHardware

/// A reader as it was seen last and as it is now (SCARD_READERSTATE).
public struct ReaderState: Hashable, Sendable {
    /// What is the case with a reader (SCARD_STATE_…).
    public struct Flags: OptionSet, Hashable, Sendable {
        /// The bits.
        public let rawValue: UInt32
        /// Wraps bits.
        public init(rawValue: UInt32) { self.rawValue = rawValue }
        /// Do not look at this one.
        public static let ignore = Flags(rawValue: 0x0001)
        /// Something is different now.
        public static let changed = Flags(rawValue: 0x0002)
        /// There is no such reader.
        public static let unknown = Flags(rawValue: 0x0004)
        /// No card is in it.
        public static let empty = Flags(rawValue: 0x0010)
        /// A card is in it.
        public static let present = Flags(rawValue: 0x0020)
        /// A program has the card for itself.
        public static let exclusive = Flags(rawValue: 0x0080)
        /// A program uses the card.
        public static let inUse = Flags(rawValue: 0x0100)
        /// The card does not answer to power.
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
    /// What the caller knows; empty for nothing.
    public var current: Flags
    /// How often a card came or went, as the caller knows.
    public var currentCount: UInt32
    /// What is the case now.
    public var event: Flags = []
    /// How often a card came or went by now; for ``SmartCardContext/hotPlug`` how many readers there are.
    public var eventCount: UInt32 = 0
    /// The answer to reset of the card that is in it now.
    public var atr: [UInt8] = []

    /// Asks about a reader of which nothing is known, or this.
    public init(_ reader: String, current: Flags = [], count: UInt32 = 0) {
        self.reader = reader
        self.current = current
        currentCount = count
    }

    /// The same reader with what is the case now as what is known.
    public var seen: ReaderState {
        ReaderState(reader, current: event.subtracting(.changed), count: eventCount)
    }
}
