// SPDX-License-Identifier: Apache-2.0

extension CBOR {
    /// How much a decoder lets pass.
    public enum Mode: Sendable, Hashable {
        /// What is not in CTAP2's canonical form is read all the same, and noted as a warning.
        case lenient
        /// What is not in CTAP2's canonical form (CTAP 2.1 §8) throws.
        case strict
    }

    /// The most that a decoder takes.
    public struct Limits: Sendable, Hashable {
        /// Levels of nesting; a lone integer has none.
        public var depth: Int
        /// Bytes of one item.
        public var bytes: Int

        /// Makes limits; without arguments 16 levels and 1 MiB.
        public init(depth: Int = 16, bytes: Int = 1 << 20) {
            self.depth = depth
            self.bytes = bytes
        }
    }

    /// Something that is not in canonical form.
    public struct Warning: Sendable, Hashable, CustomStringConvertible {
        /// Where, in bytes from the start of the outermost input.
        public let offset: Int
        /// What, in a few words.
        public let reason: String

        /// The reason and the offset, for people.
        public var description: String { "\(reason) at byte \(offset)" }
    }

    /// Reads one item and nothing after it.
    ///
    /// Throws `truncated`, `trailing`, `malformed`, `duplicate` (a map key there twice), `tooDeep` or `tooLarge`.
    public init(decoding bytes: [UInt8], _ mode: Mode = .lenient, limits: Limits = Limits()) throws(WireError) {
        var warnings: [Warning] = []
        try self.init(decoding: bytes, mode, limits: limits, warnings: &warnings)
    }

    /// Reads one item and nothing after it, and collects what is not in canonical form.
    public init(
        decoding bytes: [UInt8], _ mode: Mode = .lenient, limits: Limits = Limits(), warnings: inout [Warning]
    ) throws(WireError) {
        guard bytes.count <= limits.bytes else {
            throw WireError(.tooLarge, at: 0, "\(bytes.count) bytes of CBOR, \(limits.bytes) is the most")
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
    /// Takes one CBOR item and leaves what comes after it.
    public mutating func cbor(
        _ mode: CBOR.Mode = .lenient, limits: CBOR.Limits = CBOR.Limits()
    ) throws(WireError) -> CBOR {
        var decoder = CBORDecoder(cborCursor, mode, limits)
        let item = try decoder.value(depth: limits.depth)
        _ = try reader(decoder.cursor.position - offset)
        return item
    }
}
