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
}
