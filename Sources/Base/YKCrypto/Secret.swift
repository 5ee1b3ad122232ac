// SPDX-License-Identifier: Apache-2.0

import Glibc
import Synchronization

/// A PIN, password or key: it cannot be copied by accident, prints as `‹secret›`, and is wiped on deinit.
///
/// Its bytes are in pages that are neither swapped out nor written into a core dump, as far as the system's limits allow.
public struct Secret: ~Copyable, Sendable {
    nonisolated(unsafe) private let storage: UnsafeMutableRawBufferPointer

    /// The number of bytes.
    public var count: Int { storage.count }
    /// Whether there are no bytes: an empty PIN or password is never sent to a key.
    public var isEmpty: Bool { storage.isEmpty }

    /// Copies the bytes; the caller is responsible for wiping its own copy.
    public init(_ bytes: some Collection<UInt8>) {
        storage = SecretPages.allocate(bytes.count)
        // Generic code with an iterator or a slice makes Swift's runtime search all conformances, so this has neither.
        let isCopied: Void? = bytes.withContiguousStorageIfAvailable { [storage] in
            storage.copyMemory(from: UnsafeRawBufferPointer($0))
        }
        guard isCopied == nil else { return }
        var (place, index) = (0, bytes.startIndex)
        while place < storage.count, index != bytes.endIndex {
            storage[place] = bytes[index]
            place += 1
            bytes.formIndex(after: &index)
        }
    }

    /// Copies the UTF-8 bytes of a string.
    public init(utf8 text: String) { self.init(Array(text.utf8)) }

    deinit {
        Self.wipe(storage)
        SecretPages.deallocate(storage)
    }

    /// Gives `body` access to the bytes for the duration of the call.
    public borrowing func withBytes<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(UnsafeRawBufferPointer(storage))
    }

    /// Returns a copy of the bytes, for a message that must contain them; wipe it with ``wipe(_:)-([UInt8])``
    /// afterwards.
    public borrowing func copyBytes() -> [UInt8] { Array(storage) }

    /// Returns a second secret with the same bytes.
    public borrowing func copy() -> Secret { Secret(storage) }

    /// Whether both hold the same bytes, compared in constant time, without a copy of either.
    public static func == (left: borrowing Secret, right: borrowing Secret) -> Bool {
        guard left.count == right.count else { return false }
        var difference: UInt8 = 0
        for index in 0..<left.count { difference |= left.storage[index] ^ right.storage[index] }
        return difference == 0
    }

    /// Overwrites bytes in place with zeros in a way that the compiler does not optimize away.
    public static func wipe(_ bytes: inout [UInt8]) {
        bytes.withUnsafeMutableBytes { wipe($0) }
    }

    private static func wipe(_ buffer: UnsafeMutableRawBufferPointer) {
        guard let base = buffer.baseAddress else { return }
        explicit_bzero(base, buffer.count)
    }

    /// What is printed instead of the bytes.
    public static let placeholder = "‹secret›"
}

/// Whether two byte strings are the same, in a time that depends on their lengths only.
public func constantTimeEqual(_ left: [UInt8], _ right: [UInt8]) -> Bool {
    guard left.count == right.count else { return false }
    return zip(left, right).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
}

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

/// A secret shared by reference, wiped when the last reference is released.
public final class SharedSecret: Sendable {
    /// The secret.
    public let value: Secret

    /// Takes ownership of a secret.
    public init(_ secret: consuming Secret) { value = secret }
}

extension SharedSecret: CustomStringConvertible, CustomReflectable {
    /// The placeholder, never the bytes.
    public var description: String { Secret.placeholder }
    /// The placeholder, never the bytes.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
