// SPDX-License-Identifier: Apache-2.0

/// A response APDU (ISO 7816-4 §5.1): data, then the status word.
public struct ResponseAPDU: Hashable, Sendable {
    /// The data field; may be empty.
    public var data: [UInt8]
    /// The status word.
    public var status: StatusWord

    /// Creates a response.
    public init(_ status: StatusWord, data: [UInt8] = []) {
        self.data = data
        self.status = status
    }

    /// Decodes a response.
    ///
    /// - Throws: `truncated` for fewer than two bytes.
    public init(decoding bytes: [UInt8]) throws(WireError) {
        guard bytes.count >= 2 else {
            throw WireError(.truncated, at: bytes.count, "a response has at least the two bytes of its status word")
        }
        data = Array(bytes.dropLast(2))
        status = StatusWord(UInt16(bytes[bytes.count - 2]) << 8 | UInt16(bytes[bytes.count - 1]))
    }

    /// The encoded response: data, then the status word, most significant byte first.
    public var encoded: [UInt8] { data + [status.sw1, status.sw2] }
}
