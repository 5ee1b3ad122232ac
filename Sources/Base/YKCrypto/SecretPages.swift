// SPDX-License-Identifier: Apache-2.0

import Glibc
import Synchronization

/// Memory for secrets: pages that are not swapped out and are left out of core dumps, as far as the system's limits allow
/// (`RLIMIT_MEMLOCK`). They are shared by all secrets of the process and stay until it ends.
enum SecretPages {
    /// Bytes per block; a secret takes as many consecutive blocks as it needs.
    private static let blockSize = 64
    private static let blockCount = 1024

    private struct Pool {
        /// The address of the pages; 0 when the system provided none.
        let start: UInt
        var isTaken = [Bool](repeating: false, count: blockCount)
        /// Where the next search starts.
        var next = 0

        /// Reserves this many consecutive free blocks and returns the address of the first.
        mutating func take(_ blocks: Int) -> UInt? {
            guard start != 0, blocks > 0, blocks <= blockCount / 4 else { return nil }
            for begin in [next, 0] {
                var first = begin
                while first + blocks <= blockCount {
                    guard let taken = (first..<first + blocks).last(where: { isTaken[$0] }) else {
                        for index in first..<first + blocks { isTaken[index] = true }
                        next = first + blocks
                        return start + UInt(first * blockSize)
                    }
                    first = taken + 1
                }
            }
            return nil
        }

        /// Frees blocks; `false` for memory outside these pages.
        mutating func giveBack(_ place: UInt, _ blocks: Int) -> Bool {
            guard start != 0, place >= start, place < start + UInt(blockSize * blockCount) else { return false }
            let first = Int(place - start) / blockSize
            for index in first..<first + blocks { isTaken[index] = false }
            return true
        }
    }

    private static let pool = Mutex(Pool(start: pages()))

    private static func pages() -> UInt {
        let size = blockSize * blockCount
        guard let start = mmap(nil, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
            start != MAP_FAILED
        else { return 0 }
        _ = mlock(start, size)
        _ = madvise(start, size, MADV_DONTDUMP)
        return UInt(bitPattern: start)
    }

    /// Allocates that many bytes; from the heap when the pages are full.
    static func allocate(_ count: Int) -> UnsafeMutableRawBufferPointer {
        let place = pool.withLock { $0.take((count + blockSize - 1) / blockSize) }
        guard let place, let start = UnsafeMutableRawPointer(bitPattern: place) else {
            return .allocate(byteCount: count, alignment: 1)
        }
        return UnsafeMutableRawBufferPointer(start: start, count: count)
    }

    /// Frees memory that ``allocate(_:)`` returned.
    static func deallocate(_ memory: UnsafeMutableRawBufferPointer) {
        let place = UInt(bitPattern: memory.baseAddress)
        let blocks = (memory.count + blockSize - 1) / blockSize
        if !pool.withLock({ $0.giveBack(place, blocks) }) { memory.deallocate() }
    }
}
