// SPDX-License-Identifier: Apache-2.0

import CSodium

/// libsodium's secretstream: XChaCha20 with Poly1305, as Ente encrypts its exports.
public enum SecretStream {
    /// The size of the header at the start of a stream, in bytes.
    public static let headerSize = 24
    /// How many bytes longer a chunk is than its plaintext: a tag byte and a 16-byte authenticator.
    public static let overhead = 17

    /// Decrypts the only chunk of a stream, whatever its tag: older writers say "final" (3), newer ones "message" (0).
    ///
    /// - Parameters:
    ///   - chunk: Tag, ciphertext and authenticator.
    ///   - key: 32 bytes.
    ///   - header: 24 bytes.
    /// - Returns: The plaintext.
    /// - Throws: ``PasswordHash/Failure/missingLibrary(_:)`` without libsodium, `.invalidParameters` for a wrong length
    ///   or a chunk that is not authentic under this key.
    public static func open(
        _ chunk: [UInt8], key: borrowing Secret, header: [UInt8]
    ) throws(PasswordHash.Failure) -> [UInt8] {
        guard ykit_sodium() == 1 else { throw .missingLibrary("libsodium.so.23") }
        guard chunk.count >= overhead, header.count == headerSize, key.count == 32 else { throw .invalidParameters }
        var plain = [UInt8](repeating: 0, count: chunk.count - overhead)
        let status = key.withBytes { key in
            plain.withUnsafeMutableBufferPointer { plain in
                // libsodium requires an address even for an empty plaintext.
                var nothing: UInt8 = 0
                return withUnsafeMutablePointer(to: &nothing) { nothing in
                    ykit_secretstream_open(
                        key.assumingMemoryBound(to: UInt8.self).baseAddress, header, chunk, chunk.count,
                        plain.baseAddress ?? nothing)
                }
            }
        }
        guard status == 0 else { throw .invalidParameters }
        return plain
    }
}
