// SPDX-License-Identifier: Apache-2.0

import Glibc

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
