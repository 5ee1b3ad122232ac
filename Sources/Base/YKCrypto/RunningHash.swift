// SPDX-License-Identifier: Apache-2.0

import COpenSSL

/// A digest computed incrementally, for messages that do not fit in memory.
public struct RunningHash: Sendable, Hashable {
    /// OpenSSL's state, which changes only while it has one owner.
    private final class State: Sendable {
        nonisolated(unsafe) let handle: ykit_running?

        init(_ handle: ykit_running?) {
            OpenSSL.expect(handle != nil)
            self.handle = handle
        }

        func copy() -> State { State(ykit_running_copy(handle)) }

        deinit { ykit_running_free(handle) }
    }

    /// The hash function.
    public let algorithm: HashAlgorithm
    private var state: State

    /// Starts with an empty message.
    public init(_ algorithm: HashAlgorithm) {
        self.algorithm = algorithm
        state = State(ykit_running_new(algorithm.openSSLName))
    }

    /// Hashes the beginning of a message, or all of it.
    public init(_ algorithm: HashAlgorithm, of message: [UInt8]) {
        self.init(algorithm)
        update(message)
    }

    /// Adds the next bytes of the message.
    public mutating func update(_ bytes: UnsafeRawBufferPointer) {
        if !isKnownUniquelyReferenced(&state) { state = state.copy() }
        ykit_running_update(state.handle, bytes.octets, bytes.count)
    }

    /// Adds the next bytes of the message.
    public mutating func update(_ bytes: [UInt8]) { bytes.withUnsafeBytes { update($0) } }

    /// The digest of the bytes added so far; more may be added afterwards.
    public var digest: [UInt8] {
        let last = state.copy()
        return OpenSSL.digest(algorithm.digestSize) { ykit_running_finish(last.handle, $0) }
    }

    /// Whether both have the same hash function and digest.
    public static func == (one: RunningHash, other: RunningHash) -> Bool {
        one.algorithm == other.algorithm && one.digest == other.digest
    }

    /// Hashes what ``==(_:_:)`` compares.
    public func hash(into hasher: inout Hasher) { hasher.combine(digest) }
}
