// SPDX-License-Identifier: Apache-2.0

public import YKCrypto
public import YKWire

/// Why a key container (RFC 6030) cannot be read.
public enum PSKCError: Error, Hashable, Sendable {
    /// The text is not valid key container XML.
    case malformed(WireError)
    /// An element or attribute is missing or has an unsupported value, which is empty if it could be a secret.
    case field(String, String)
    /// An unsupported algorithm; its name is empty if it is in no known form.
    case unsupportedAlgorithm(String)
    /// The container is encrypted and no key was given.
    case needsKey(PSKCProtection)
    /// The key or passphrase is wrong, or the file was modified.
    case wrongKey
    /// A cryptographic primitive failed on this computer.
    case crypto(CryptoFault)
    /// The operation was cancelled.
    case cancelled

    /// An algorithm that is not supported, quoted if it is an identifier of the standards.
    static func unsupported(_ name: String) -> PSKCError { .unsupportedAlgorithm(Quotable.identifier(name) ?? "") }

    /// An element or attribute with a value that is not supported, quoted if it is a number or a known word.
    static func unusable(_ name: String, _ value: String) -> PSKCError { .field(name, Quotable.name(value) ?? "") }
}

/// How the secrets in a key container are protected.
public enum PSKCProtection: Hashable, Sendable {
    /// Unencrypted.
    case none
    /// With a pre-shared key; its name, if the file has one.
    case presharedKey(name: String?)
    /// With a passphrase.
    case passphrase
}
