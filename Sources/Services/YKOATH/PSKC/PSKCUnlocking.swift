// SPDX-License-Identifier: Apache-2.0

public import YKCrypto

/// The secret that decrypts a key container: a pre-shared key or a passphrase.
public enum PSKCUnlocking: Sendable {
    /// The key, 16, 24 or 32 bytes.
    case presharedKey(SharedSecret)
    /// The passphrase, from which PBKDF2 derives a key.
    case passphrase(SharedSecret)
}
