// SPDX-License-Identifier: Apache-2.0

extension CBOR {
    /// How strict a decoder is.
    public enum Mode: Sendable, Hashable {
        /// Accepts deviations from CTAP2's canonical form and reports them as warnings.
        case lenient
        /// Throws on deviations from CTAP2's canonical form (CTAP 2.1 §8).
        case strict
    }

    /// The size limits of a decoder.
    public struct Limits: Sendable, Hashable {
        /// The maximum nesting depth; a lone integer has depth 0.
        public var depth: Int
        /// The maximum size of one item in bytes.
        public var bytes: Int

        /// Creates limits, by default 16 levels and 1 MiB.
        public init(depth: Int = 16, bytes: Int = 1 << 20) {
            self.depth = depth
            self.bytes = bytes
        }
    }

    /// A deviation from canonical form.
    public struct Warning: Sendable, Hashable, CustomStringConvertible {
        /// The offset in bytes from the start of the outermost input.
        public let offset: Int
        /// What deviates, in a few words.
        public let reason: String

        /// The reason and the offset, for display.
        public var description: String { "\(reason) at byte \(offset)" }
    }

    /// Decodes exactly one item.
    ///
    /// - Throws: `truncated`, `trailing`, `malformed`, `duplicate` (of a map key), `tooDeep` or `tooLarge`.
    public init(decoding bytes: [UInt8], _ mode: Mode = .lenient, limits: Limits = Limits()) throws(WireError) {
        var warnings: [Warning] = []
        try self.init(decoding: bytes, mode, limits: limits, warnings: &warnings)
    }

    /// Decodes exactly one item, and collects deviations from canonical form.
    public init(
        decoding bytes: [UInt8], _ mode: Mode = .lenient, limits: Limits = Limits(), warnings: inout [Warning]
    ) throws(WireError) {
        guard bytes.count <= limits.bytes else {
            throw WireError(.tooLarge, at: 0, "\(bytes.count) bytes of CBOR, at most \(limits.bytes)")
        }
        var decoder = CBORDecoder(CBORCursor(bytes), mode, limits)
        self = try decoder.value(depth: limits.depth)
        warnings += decoder.warnings
        guard decoder.cursor.isAtEnd else {
            throw WireError(
                .trailing, at: decoder.cursor.position,
                "\(decoder.cursor.remaining) bytes left over after the CBOR item")
        }
    }
}

extension ByteReader {
    /// Reads one CBOR item and leaves the bytes after it.
    public mutating func cbor(
        _ mode: CBOR.Mode = .lenient, limits: CBOR.Limits = CBOR.Limits()
    ) throws(WireError) -> CBOR {
        var decoder = CBORDecoder(cborCursor, mode, limits)
        let item = try decoder.value(depth: limits.depth)
        _ = try reader(decoder.cursor.position - offset)
        return item
    }
}
