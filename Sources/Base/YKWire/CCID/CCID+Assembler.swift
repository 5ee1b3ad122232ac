// SPDX-License-Identifier: Apache-2.0

extension CCID {
    /// Puts one message after the other together from transfers, however they are cut.
    public struct Assembler: Hashable, Sendable {
        private var open: [UInt8] = []

        /// Begins with nothing.
        public init() {}

        /// Whether a message has begun and is not whole.
        public var isInMessage: Bool { !open.isEmpty }

        /// How many bytes are still to come until the message is whole, or its header is.
        public var missing: Int {
            let length = CCID.announcedLength(open).map { min($0, CCID.dataLimit) } ?? 0
            return max(0, CCID.headerSize + length - open.count)
        }

        /// Takes a transfer; gives the bytes of a message that is whole.
        ///
        /// Throws `WireError` for a length above ``CCID/dataLimit`` and for bytes that no message announced; what was
        /// begun is dropped then.
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

        /// Drops what was begun.
        public mutating func reset() { open = [] }

        private mutating func drop(_ code: WireError.Code, at offset: Int, _ reason: String) -> WireError {
            open = []
            return WireError(code, at: offset, reason)
        }
    }
}
