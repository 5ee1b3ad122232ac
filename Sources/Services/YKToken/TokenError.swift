// SPDX-License-Identifier: Apache-2.0

public import YKCrypto
public import YKWire

/// Why a one-time password was not accepted.
public enum TokenError: Error, Hashable, Sendable {
    /// It is not a Yubico OTP.
    case malformed(WireError)
    /// It is from another key: the public identity does not match.
    case otherPublicID([UInt8])
    /// It cannot be decrypted with the key: the AES key is wrong, or the password was mistyped.
    case wrongKey
    /// The private identity in it does not match.
    case otherPrivateID
    /// It, or a later one, was already accepted.
    case replayed(OTPCounter, last: OTPCounter)
    /// The stored counter could not be read or written, so nothing is accepted.
    case store(CounterFileError)
    /// The AES key is not 16 bytes long.
    case crypto(CryptoFault)
}
