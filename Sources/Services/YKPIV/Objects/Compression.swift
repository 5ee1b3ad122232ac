// SPDX-License-Identifier: Apache-2.0

import CZlib

/// gzip (RFC 1952) and zlib (RFC 1950), whole buffers at a time.
enum Compression {
    /// Compresses with gzip; `nil` above one mebibyte.
    static func gzip(_ bytes: [UInt8]) -> [UInt8]? {
        guard bytes.count <= 1 << 20 else { return nil }
        return filled(bytes.count + bytes.count / 8 + 128) { output, room in
            ykit_deflate(ykit_gzip, Z_BEST_COMPRESSION, bytes, UInt32(bytes.count), output, UInt32(room))
        }
    }

    /// Inflates gzip or zlib, which the first bytes tell apart, to at most `limit` bytes; `nil` when it is neither, is
    /// damaged, longer, or followed by anything.
    static func inflate(_ bytes: [UInt8], limit: Int) -> [UInt8]? {
        guard bytes.count <= 1 << 20 else { return nil }
        return filled(limit) { output, room in
            ykit_inflate(ykit_gzip_or_zlib, bytes, UInt32(bytes.count), output, UInt32(room))
        }
    }

    private static func filled(_ room: Int, _ body: (UnsafeMutablePointer<UInt8>?, Int) -> Int) -> [UInt8]? {
        var written = -1
        let result = [UInt8](unsafeUninitializedCapacity: room) { buffer, count in
            written = body(buffer.baseAddress, room)
            count = max(0, min(room, written))
        }
        return written >= 0 ? result : nil
    }
}
