// SPDX-License-Identifier: Apache-2.0

extension CCID {
    /// Reassembles consecutive messages from transfers of any size.
    public struct Assembler: Hashable, Sendable {
        private var open: [UInt8] = []

        /// Creates an empty assembler.
        public init() {}

        /// Whether a message is incomplete.
        public var isInMessage: Bool { !open.isEmpty }

        /// The number of bytes missing from the message, or from its header.
        public var missing: Int {
            let length = CCID.announcedLength(open).map { min($0, CCID.dataLimit) } ?? 0
            return max(0, CCID.headerSize + length - open.count)
        }

        /// Adds a transfer; returns the message once it is complete.
        ///
        /// - Throws: `WireError` for a length above ``CCID/dataLimit`` and for unannounced bytes; the incomplete
        /// message is then discarded.
        public mutating func add(_ transfer: [UInt8]) throws(WireError) -> [UInt8]? {
            open += transfer
            guard let length = CCID.announcedLength(open) else { return nil }
            guard length <= CCID.dataLimit else {
                throw drop(.tooLarge, at: 1, "a message of \(length) bytes, at most \(CCID.dataLimit)")
            }
            let size = CCID.headerSize + length
            guard open.count <= size else {
                throw drop(.trailing, at: size, "\(open.count - size) bytes more than the message announces")
            }
            guard open.count == size else { return nil }
            defer { open = [] }
            return open
        }

        /// Discards the incomplete message.
        public mutating func reset() { open = [] }

        private mutating func drop(_ code: WireError.Code, at offset: Int, _ reason: String) -> WireError {
            open = []
            return WireError(code, at: offset, reason)
        }
    }
}
