// SPDX-License-Identifier: Apache-2.0

import CZlib

/// zlib over whole buffers: gzip (RFC 1952) for PIV's certificates, raw DEFLATE (RFC 1951) for FIDO's large blobs and
/// ZIP archives.
package enum Compression {
    /// The size limit in bytes for input to compress and for compressed input.
    package static let limit = 1 << 20

    /// Compresses with gzip; `nil` above ``limit``.
    package static func gzip(_ bytes: [UInt8]) -> [UInt8]? {
        guard bytes.count <= limit else { return nil }
        return filled(bytes.count + bytes.count / 8 + 128) { output, room in
            ykit_deflate(ykit_gzip, Z_BEST_COMPRESSION, bytes, UInt32(bytes.count), output, UInt32(room))
        }
    }

    /// Compresses to raw DEFLATE; `nil` above ``limit``.
    package static func deflate(_ bytes: [UInt8]) -> [UInt8]? {
        guard bytes.count <= limit else { return nil }
        return filled(bytes.count + bytes.count / 8 + 64) { output, room in
            ykit_deflate(ykit_raw_deflate, Z_DEFAULT_COMPRESSION, bytes, UInt32(bytes.count), output, UInt32(room))
        }
    }

    /// Inflates gzip or zlib (RFC 1950), detected by the first bytes, to at most `limit` bytes; `nil` when the input is
    /// neither, is damaged, expands beyond the limit, or has trailing bytes.
    package static func inflate(_ bytes: [UInt8], limit: Int) -> [UInt8]? {
        inflate(ykit_gzip_or_zlib, bytes, limit)
    }

    /// Inflates raw DEFLATE to exactly `size` bytes, at most ``limit``; `nil` for any other input.
    package static func inflate(_ bytes: [UInt8], size: UInt64) -> [UInt8]? {
        guard let size = Int(exactly: size), size <= limit else { return nil }
        let result = inflate(ykit_raw_deflate, bytes, max(1, size))
        return result?.count == size ? result : nil
    }

    private static func inflate(_ window: Int32, _ bytes: [UInt8], _ room: Int) -> [UInt8]? {
        guard bytes.count <= limit else { return nil }
        return filled(room) { output, room in
            ykit_inflate(window, bytes, UInt32(bytes.count), output, UInt32(room))
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
