// SPDX-License-Identifier: Apache-2.0

package import YKWire

/// Finds secret byte ranges in messages that may be truncated.
package enum SecretRuns {
    /// All bytes.
    package static func all(_ data: [UInt8]) -> [Range<Int>] { data.isEmpty ? [] : [0..<data.count] }

    /// All bytes from an offset on.
    package static func from(_ start: Int, _ data: [UInt8]) -> [Range<Int>] {
        data.count > start ? [start..<data.count] : []
    }

    /// The values of BER-TLV data objects with the given tags, without the first `skip` bytes of each. Where the data
    /// can no longer be read as data objects, all of the rest.
    ///
    /// - Parameters:
    ///   - start: The offset of the first data object.
    ///   - bare: A tag followed by one byte instead of a length, such as OATH's property.
    package static func values(
        of wanted: Set<TLV.Tag>, in data: [UInt8], skipping skip: Int = 0, from start: Int = 0, bare: TLV.Tag? = nil
    ) -> [Range<Int>] {
        var reader = ByteReader(data)
        guard (try? reader.bytes(start)) != nil else { return [] }
        var found: [Range<Int>] = []
        while !reader.isAtEnd {
            let object = reader.offset
            guard let tag = try? reader.tlvTag() else { return found + from(object, data) }
            if tag == bare {
                _ = try? reader.byte()
                continue
            }
            guard let length = try? reader.tlvLength() else { return found + from(object, data) }
            let value = reader.offset
            let isWhole = (try? reader.bytes(length)) != nil
            let end = isWhole ? reader.offset : data.count
            if wanted.contains(tag), end > value + skip { found.append((value + skip)..<end) }
            if !isWhole { return found }
        }
        return found
    }
}
