// SPDX-License-Identifier: Apache-2.0

import COpenSSL

/// A hash function, with the message authentication code and the key derivation that build on it.
public enum HashAlgorithm: Sendable, Hashable, CaseIterable {
    /// SHA-1 (FIPS 180-4), for protocols that prescribe it.
    case sha1
    /// SHA-256 (FIPS 180-4).
    case sha256
    /// SHA-384 (FIPS 180-4).
    case sha384
    /// SHA-512 (FIPS 180-4).
    case sha512

    /// The input block in bytes; a longer HMAC key is hashed first (RFC 2104 §2).
    public var blockSize: Int {
        switch self {
        case .sha1, .sha256: 64
        case .sha384, .sha512: 128
        }
    }

    /// The digest size in bytes.
    public var digestSize: Int {
        switch self {
        case .sha1: 20
        case .sha256: 32
        case .sha384: 48
        case .sha512: 64
        }
    }

    var openSSLName: String {
        switch self {
        case .sha1: "SHA1"
        case .sha256: "SHA256"
        case .sha384: "SHA384"
        case .sha512: "SHA512"
        }
    }

    /// Returns the digest of a message.
    public func hash(_ message: some Sequence<UInt8>) -> [UInt8] {
        let message = Array(message)
        return OpenSSL.digest(digestSize) { ykit_hash(openSSLName, message, message.count, $0) }
    }

    /// Returns the HMAC of a message (RFC 2104).
    public func hmac(key: borrowing Secret, _ message: [UInt8]) -> [UInt8] {
        OpenSSL.digest(digestSize) { out in
            key.withBytes {
                ykit_mac("HMAC", openSSLName, $0.octets, $0.count, message, message.count, out, digestSize)
            }
        }
    }

    /// Derives a key of `length` bytes from a password (PBKDF2 with HMAC, RFC 8018 §5.2).
    ///
    /// - Throws: `CryptoFault` when the length or the number of rounds is out of range.
    public func pbkdf2(
        _ password: borrowing Secret, salt: [UInt8], rounds: Int, length: Int
    ) throws(CryptoFault) -> Secret {
        guard let count = UInt32(exactly: rounds), count > 0, length > 0 else {
            throw CryptoFault("PBKDF2: \(rounds) rounds, \(length) bytes requested")
        }
        var bytes = [UInt8](repeating: 0, count: length)
        defer { Secret.wipe(&bytes) }
        let status = password.withBytes {
            ykit_pbkdf2(openSSLName, $0.octets, $0.count, salt, salt.count, count, &bytes, length)
        }
        guard status == 0 else { throw OpenSSL.fault("PBKDF2: OpenSSL refused") }
        return Secret(bytes)
    }

    /// Derives a key of `length` bytes from another secret (HKDF, RFC 5869).
    ///
    /// - Throws: `CryptoFault` for more than 255 digests.
    public func hkdf(
        _ secret: borrowing Secret, salt: [UInt8], info: [UInt8], length: Int
    ) throws(CryptoFault) -> Secret {
        guard length > 0, length <= 255 * digestSize else { throw CryptoFault("HKDF: \(length) bytes requested") }
        let pseudorandom = Secret(hmac(key: Secret(salt), secret.copyBytes()))
        var output: [UInt8] = []
        var block: [UInt8] = []
        var counter: UInt8 = 1
        while output.count < length {
            block = hmac(key: pseudorandom, block + info + [counter])
            output += block
            counter &+= 1
        }
        defer { Secret.wipe(&output) }
        return Secret(output.prefix(length))
    }

    /// Derives a key of `length` bytes from a shared secret (ANSI X9.63 §3.6.1; BSI TR-03111 §4.3.3).
    ///
    /// - Throws: `CryptoFault` for more than 255 digests.
    public func x963(
        _ secret: borrowing Secret, sharedInfo: [UInt8], length: Int
    ) throws(CryptoFault) -> Secret {
        guard length > 0, length <= 255 * digestSize else { throw CryptoFault("X9.63: \(length) bytes requested") }
        var input = secret.copyBytes()
        var output: [UInt8] = []
        defer {
            Secret.wipe(&input)
            Secret.wipe(&output)
        }
        var counter: UInt8 = 1
        while output.count < length {
            var block = input + [0, 0, 0, counter] + sharedInfo
            defer { Secret.wipe(&block) }
            output += hash(block)
            counter &+= 1
        }
        return Secret(output.prefix(length))
    }
}

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

/// A hash function whose output has any length (FIPS 202 §6.2).
enum SHAKE: String {
    case shake128 = "SHAKE128"
    case shake256 = "SHAKE256"

    /// Returns the first `size` bytes of the output.
    func hash(_ message: [UInt8], _ size: Int) -> [UInt8] {
        OpenSSL.digest(size) { ykit_shake(rawValue, message, message.count, $0, size) }
    }

    /// The output, byte by byte.
    struct Stream {
        private let function: SHAKE
        private let message: [UInt8]
        private var bytes: [UInt8]
        private var position = 0

        /// Starts with five blocks of SHAKE128, enough for most samplings.
        init(_ function: SHAKE, of message: [UInt8]) {
            self.function = function
            self.message = message
            bytes = function.hash(message, 5 * 168)
        }

        /// Returns the next byte. OpenSSL 3.0 cannot continue an output; a longer one is computed from the start.
        mutating func next() -> UInt8 {
            if position == bytes.count { bytes = function.hash(message, 2 * bytes.count) }
            position += 1
            return bytes[position - 1]
        }
    }
}
