// SPDX-License-Identifier: Apache-2.0

import CArgon2
import COpenSSL

/// A memory-hard key derivation function for passwords.
public enum PasswordHash: Hashable, Sendable {
    /// scrypt (RFC 7914 §6): cost N, a power of two; block size r; parallelisation p.
    case scrypt(cost: Int, blockSize: Int, parallelism: Int)
    /// Argon2id version 1.3 (RFC 9106): passes t, memory m in KiB, lanes p. Computed by libargon2.
    case argon2id(passes: Int, kibibytes: Int, lanes: Int)

    /// The memory limit for parameters read from a file, in bytes: 1 GiB.
    public static let memoryLimit = 1 << 30
    /// The limits for memory times passes, in bytes: each corresponds to about 20 seconds on one processor.
    private static let scryptLimit = 1 << 31, argon2idLimit = 5 << 30

    /// Why a key cannot be derived.
    public enum Failure: Error, Hashable, Sendable {
        /// The parameters are outside the function's range.
        case invalidParameters
        /// The parameters exceed the memory or time limit.
        case tooExpensive
        /// The library of that name is not installed.
        case missingLibrary(String)
    }

    /// Derives a key.
    ///
    /// - Parameters:
    ///   - password: The password's bytes, unmodified.
    ///   - salt: The salt; Argon2id takes at least 8 bytes.
    ///   - length: The length of the key in bytes.
    /// - Returns: The key.
    /// - Throws: ``Failure``.
    public func derive(
        _ password: borrowing Secret, salt: [UInt8], length: Int
    ) throws(Failure) -> Secret {
        try Self.check([self])
        switch self {
        case .scrypt(let cost, let blockSize, let parallelism):
            return try Self.key(length) { out in
                password.withBytes {
                    ykit_scrypt(
                        $0.octets, $0.count, salt, salt.count, UInt64(cost), UInt32(blockSize), UInt32(parallelism),
                        UInt64(Self.memoryLimit + 1 << 20), out, length)
                }
            }
        case .argon2id(let passes, let kibibytes, let lanes):
            guard ykit_argon2() == 1 else { throw .missingLibrary("libargon2.so.1") }
            return try Self.key(length) { out in
                password.withBytes { password in
                    ykit_argon2id(
                        UInt32(passes), UInt32(kibibytes), UInt32(lanes), password.baseAddress, password.count, salt,
                        salt.count, out, length)
                }
            }
        }
    }

    /// Lets a function write a key; it returns 0 on success.
    private static func key(
        _ length: Int, _ body: (UnsafeMutablePointer<UInt8>) -> Int32
    ) throws(Failure) -> Secret {
        guard length > 0 else { throw .invalidParameters }
        var bytes = [UInt8](repeating: 0, count: length)
        defer { Secret.wipe(&bytes) }
        guard body(&bytes) == 0 else { throw .invalidParameters }
        return Secret(bytes)
    }

    /// Checks whether keys can be derived, one after another, within the limits for memory and time.
    ///
    /// - Parameter hashes: The functions of all keys that a file may need.
    /// - Throws: `tooExpensive`, or `invalidParameters`.
    public static func check(_ hashes: [PasswordHash]) throws(Failure) {
        var share = 0.0
        for hash in hashes { share += try hash.share() }
        if share > 1 { throw .tooExpensive }
    }

    /// The share of the time limit that deriving one key takes.
    private func share() throws(Failure) -> Double {
        let (memory, work, limit): (Int, Int, Int)
        switch self {
        case .scrypt(let cost, let blockSize, let parallelism):
            guard cost > 1, cost & (cost - 1) == 0, blockSize > 0, parallelism > 0 else { throw .invalidParameters }
            guard cost <= 1 << 24, blockSize <= 1 << 10, parallelism <= 1 << 10 else { throw .tooExpensive }
            memory = 128 * blockSize * (cost + parallelism)
            (work, limit) = (128 * blockSize * cost * parallelism, Self.scryptLimit)
        case .argon2id(let passes, let kibibytes, let lanes):
            guard passes > 0, lanes > 0, kibibytes > 0 else { throw .invalidParameters }
            guard passes <= 1 << 10, lanes <= 1 << 8, kibibytes <= 1 << 20 else { throw .tooExpensive }
            memory = 1024 * kibibytes
            (work, limit) = (memory * passes, Self.argon2idLimit)
        }
        guard memory <= Self.memoryLimit else { throw .tooExpensive }
        return Double(work) / Double(limit)
    }
}
