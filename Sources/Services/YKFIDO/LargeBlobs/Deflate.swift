// SPDX-License-Identifier: Apache-2.0

import CZlib

/// Raw DEFLATE (RFC 1951), as large blobs are compressed.
enum Deflate {
    /// The most bytes that are inflated.
    static let limit = 1 << 20

    /// Compresses; `nil` above one mebibyte.
    static func compress(_ bytes: [UInt8]) -> [UInt8]? {
        guard bytes.count <= limit else { return nil }
        let room = bytes.count + bytes.count / 8 + 64
        return filled(room) { output in
            bytes.withUnsafeBufferPointer { input in
                ykit_deflate(
                    ykit_raw_deflate, Z_DEFAULT_COMPRESSION, input.baseAddress, UInt32(input.count), output.baseAddress,
                    UInt32(output.count))
            }
        }
    }

    /// Decompresses to exactly `size` bytes; `nil` when the input is anything else.
    static func decompress(_ bytes: [UInt8], size: UInt64) -> [UInt8]? {
        guard let size = Int(exactly: size), size <= limit, bytes.count <= limit else { return nil }
        let result = filled(max(1, size)) { output in
            bytes.withUnsafeBufferPointer { input in
                ykit_inflate(
                    ykit_raw_deflate, input.baseAddress, UInt32(input.count), output.baseAddress, UInt32(output.count))
            }
        }
        return result?.count == size ? result : nil
    }

    private static func filled(_ room: Int, _ body: (UnsafeMutableBufferPointer<UInt8>) -> Int) -> [UInt8]? {
        var isDone = false
        let result = [UInt8](unsafeUninitializedCapacity: room) { buffer, count in
            let area = UnsafeMutableBufferPointer(rebasing: buffer[..<room])
            area.initialize(repeating: 0)
            let written = body(area)
            isDone = written >= 0
            count = max(0, written)
        }
        return isDone ? result : nil
    }
}
