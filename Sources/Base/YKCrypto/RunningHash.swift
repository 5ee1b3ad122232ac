// SPDX-License-Identifier: Apache-2.0

import Crypto

/// A digest computed incrementally, for messages that do not fit in memory.
public struct RunningHash: Sendable, Hashable {
    private enum State: Sendable {
        case sha1(Insecure.SHA1)
        case sha256(SHA256)
        case sha384(SHA384)
        case sha512(SHA512)
    }

    /// The hash function.
    public let algorithm: HashAlgorithm
    private var state: State

    /// Starts with an empty message.
    public init(_ algorithm: HashAlgorithm) {
        self.algorithm = algorithm
        state =
            switch algorithm {
            case .sha1: .sha1(Insecure.SHA1())
            case .sha256: .sha256(SHA256())
            case .sha384: .sha384(SHA384())
            case .sha512: .sha512(SHA512())
            }
    }

    /// Hashes the beginning of a message, or all of it.
    public init(_ algorithm: HashAlgorithm, of message: [UInt8]) {
        self.init(algorithm)
        update(message)
    }

    /// Adds the next bytes of the message.
    public mutating func update(_ bytes: UnsafeRawBufferPointer) {
        switch state {
        case .sha1(var hash):
            hash.update(bufferPointer: bytes)
            state = .sha1(hash)
        case .sha256(var hash):
            hash.update(bufferPointer: bytes)
            state = .sha256(hash)
        case .sha384(var hash):
            hash.update(bufferPointer: bytes)
            state = .sha384(hash)
        case .sha512(var hash):
            hash.update(bufferPointer: bytes)
            state = .sha512(hash)
        }
    }

    /// Adds the next bytes of the message.
    public mutating func update(_ bytes: [UInt8]) { bytes.withUnsafeBytes { update($0) } }

    /// The digest of the bytes added so far; more may be added afterwards.
    public var digest: [UInt8] {
        switch state {
        case .sha1(let hash): hash.finalize().withUnsafeBytes { Array($0) }
        case .sha256(let hash): hash.finalize().withUnsafeBytes { Array($0) }
        case .sha384(let hash): hash.finalize().withUnsafeBytes { Array($0) }
        case .sha512(let hash): hash.finalize().withUnsafeBytes { Array($0) }
        }
    }

    /// The digest, for functions that accept any digest type.
    var value: any Digest {
        switch state {
        case .sha1(let hash): hash.finalize()
        case .sha256(let hash): hash.finalize()
        case .sha384(let hash): hash.finalize()
        case .sha512(let hash): hash.finalize()
        }
    }

    /// Whether both have the same hash function and digest.
    public static func == (one: RunningHash, other: RunningHash) -> Bool {
        one.algorithm == other.algorithm && one.digest == other.digest
    }

    /// Hashes what ``==(_:_:)`` compares.
    public func hash(into hasher: inout Hasher) { hasher.combine(digest) }
}
