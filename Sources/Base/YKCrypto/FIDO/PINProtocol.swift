// SPDX-License-Identifier: Apache-2.0

/// How a platform and a key agree on a secret and prove knowledge of it (PIN/UV auth protocol, CTAP 2.2 §6.5.4).
public enum PINProtocol: UInt64, Sendable, Hashable, CaseIterable {
    /// Protocol 1: AES-256-CBC with a zero initialization vector, HMAC-SHA-256 truncated to 16 bytes (§6.5.6).
    case one = 1
    /// Protocol 2: separate keys for encryption and HMAC, random initialization vectors, full HMACs (§6.5.7).
    case two = 2

    /// Whether a decrypted token may have this length: 16 or 32 bytes with protocol 1, 32 with protocol 2.
    package func accepts(tokenOf count: Int) -> Bool { count == 32 || self == .one && count == 16 }

    /// Returns pinUvAuthParam, which proves knowledge of a key, for a message.
    package func authenticate(_ message: [UInt8], key: borrowing Secret) -> [UInt8] {
        let code = HashAlgorithm.sha256.hmac(key: key, message)
        return self == .one ? Array(code.prefix(16)) : code
    }
}
