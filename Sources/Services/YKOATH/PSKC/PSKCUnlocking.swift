// SPDX-License-Identifier: Apache-2.0

public import YKCrypto

/// What opens a key container: the key both sides have, or a passphrase.
public enum PSKCUnlocking: Sendable {
    /// The key as bytes: 16, 24 or 32 of them.
    case presharedKey(SharedSecret)
    /// The passphrase, which PBKDF2 turns into a key.
    case passphrase(SharedSecret)
}
