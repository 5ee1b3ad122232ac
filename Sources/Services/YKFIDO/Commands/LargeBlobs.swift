// SPDX-License-Identifier: Apache-2.0

import YKProtocols
public import YKWire

/// Reads and writes fragments of the large-blob array (authenticatorLargeBlobs, CTAP 2.2 §6.10).
public enum LargeBlobs {
    private typealias Key = CTAPProtocol.LargeBlobs.Request

    /// Reads a fragment.
    public struct Get: CTAPCommand, Sendable, Hashable {
        let offset: UInt64
        let count: UInt64
        /// Reads at most `count` bytes starting at `offset`.
        public init(offset: Int, count: Int) {
            self.offset = UInt64(clamping: offset)
            self.count = UInt64(clamping: count)
        }
        /// The command byte.
        public var code: CTAPCommandCode { .largeBlobs }
        /// The name in the specification.
        public var name: String { "largeBlobs get" }
        /// The parameters.
        public var parameters: CBOR.Map? { CBOR.Map(keys: [Key.get: .unsigned(count), Key.offset: .unsigned(offset)]) }
        /// Reads the fragment; throws `tooLarge` if it is longer than requested.
        public func decode(_ fields: CBOR.Fields) throws(WireError) -> [UInt8] {
            let fragment = try fields.required(CTAPProtocol.LargeBlobs.Reply.config, .bytes)
            guard fragment.count <= count else {
                throw WireError(.tooLarge, at: 0, "a fragment of \(fragment.count) bytes, \(count) were requested")
            }
            return fragment
        }
    }

    /// Writes a fragment.
    public struct Set: CTAPCommand, Sendable, Hashable {
        /// No response data.
        public typealias Response = Void
        let fragment: [UInt8]
        let offset: UInt64
        let total: UInt64?
        let auth: PINUVAuth?
        /// Writes a fragment at `offset`; the first one carries the total length.
        public init(_ fragment: [UInt8], offset: Int, total: Int, auth: PINUVAuth?) {
            self.fragment = fragment
            self.offset = UInt64(clamping: offset)
            self.total = offset == 0 ? UInt64(clamping: total) : nil
            self.auth = auth
        }
        /// The command byte.
        public var code: CTAPCommandCode { .largeBlobs }
        /// The name in the specification.
        public var name: String { "largeBlobs set" }
        /// The parameters.
        public var parameters: CBOR.Map? {
            var map = CBOR.Map(keys: [Key.set: .bytes(fragment), Key.offset: .unsigned(offset)])
            map[Key.length] = total.map(CBOR.unsigned)
            map.set(auth, at: Key.pinUvAuthParam, Key.pinUvAuthProtocol)
            return map
        }
    }

    /// The bytes that pinUvAuthParam of a fragment authenticates, with the fragment's SHA-256 (CTAP 2.2 §6.10.2).
    static func authenticated(offset: Int, fragmentHash: [UInt8]) -> [UInt8] {
        var writer = ByteWriter(capacity: 70)
        writer.append(repeatElement(0xFF, count: 32))
        writer.append([CTAPProtocol.Command.largeBlobs, 0x00])
        writer.littleEndian(UInt64(clamping: offset), 4)
        writer.append(fragmentHash)
        return writer.bytes
    }
}
