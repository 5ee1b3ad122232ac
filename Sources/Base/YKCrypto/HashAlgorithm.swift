// SPDX-License-Identifier: Apache-2.0

import Crypto
import CryptoExtras

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

    /// Returns the digest of a message.
    public func hash(_ message: some Sequence<UInt8>) -> [UInt8] {
        RunningHash(self, of: Array(message)).digest
    }

    /// Returns the HMAC of a message (RFC 2104).
    public func hmac(key: borrowing Secret, _ message: [UInt8]) -> [UInt8] {
        let key = key.withBytes { SymmetricKey(data: $0) }
        return switch self {
        case .sha1: HMAC<Insecure.SHA1>.authenticationCode(for: message, using: key).withUnsafeBytes { Array($0) }
        case .sha256: HMAC<SHA256>.authenticationCode(for: message, using: key).withUnsafeBytes { Array($0) }
        case .sha384: HMAC<SHA384>.authenticationCode(for: message, using: key).withUnsafeBytes { Array($0) }
        case .sha512: HMAC<SHA512>.authenticationCode(for: message, using: key).withUnsafeBytes { Array($0) }
        }
    }

    /// Derives a key of `length` bytes from a password (PBKDF2 with HMAC, RFC 8018 §5.2).
    ///
    /// - Throws: `CryptoFault` when the length or the number of rounds is out of range.
    public func pbkdf2(
        _ password: borrowing Secret, salt: [UInt8], rounds: Int, length: Int
    ) throws(CryptoFault) -> Secret {
        do {
            let key = try password.withBytes { bytes in
                try KDF.Insecure.PBKDF2.deriveKey(
                    from: bytes, salt: salt, using: insecureHash, outputByteCount: length,
                    unsafeUncheckedRounds: rounds)
            }
            var bytes = key.withUnsafeBytes { Array($0) }
            defer { Secret.wipe(&bytes) }
            return Secret(bytes)
        } catch {
            throw CryptoFault("PBKDF2: \(error)")
        }
    }

    private var insecureHash: KDF.Insecure.PBKDF2.HashFunction {
        switch self {
        case .sha1: .insecureSHA1
        case .sha256: .sha256
        case .sha384: .sha384
        case .sha512: .sha512
        }
    }
}
