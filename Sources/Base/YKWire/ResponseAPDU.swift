// SPDX-License-Identifier: Apache-2.0

/// A response APDU (ISO 7816-4 §5.1): data, then the status word.
public struct ResponseAPDU: Hashable, Sendable {
    /// The data field, empty when there is none.
    public var data: [UInt8]
    /// How the command ended.
    public var status: StatusWord

    /// Makes a response.
    public init(_ status: StatusWord, data: [UInt8] = []) {
        self.data = data
        self.status = status
    }

    /// Reads a response; fewer than two bytes throw `truncated`.
    public init(decoding bytes: [UInt8]) throws(WireError) {
        guard bytes.count >= 2 else {
            throw WireError(.truncated, at: bytes.count, "a response has at least the two bytes of its status word")
        }
        data = Array(bytes.dropLast(2))
        status = StatusWord(UInt16(bytes[bytes.count - 2]) << 8 | UInt16(bytes[bytes.count - 1]))
    }

    /// Writes data, then the status word, most significant byte first.
    public var encoded: [UInt8] { data + [status.sw1, status.sw2] }
}
