// SPDX-License-Identifier: Apache-2.0

public import YKCrypto
public import YKWire

/// Why a key container (RFC 6030) cannot be read.
public enum PSKCError: Error, Hashable, Sendable {
    /// The text is not the XML that a key container is made of.
    case malformed(WireError)
    /// An element or attribute is missing, or has a value that is not understood.
    case field(String, String)
    /// An algorithm is not one of those that are read here.
    case unsupportedAlgorithm(String)
    /// The container is encrypted and no key was given.
    case needsKey(PSKCProtection)
    /// The key or passphrase is not the right one, or the file was changed.
    case wrongKey
    /// A primitive failed on this computer.
    case crypto(CryptoFault)
}

/// How the secrets in a key container are protected.
public enum PSKCProtection: Hashable, Sendable {
    /// Not at all.
    case none
    /// With a key that both sides have; its name, when the file says one.
    case presharedKey(name: String?)
    /// With a passphrase.
    case passphrase
}
