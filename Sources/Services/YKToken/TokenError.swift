// SPDX-License-Identifier: Apache-2.0

public import YKCrypto
public import YKWire

/// Why a one-time password was not accepted.
public enum TokenError: Error, Hashable, Sendable {
    /// It is no Yubico OTP.
    case malformed(WireError)
    /// It comes from another key: its public identity is not the expected one.
    case otherPublicID([UInt8])
    /// The key does not open it: another AES key, or a password with a letter wrong.
    case wrongKey
    /// It opens, but the private identity in it is not the expected one.
    case otherPrivateID
    /// It, or a later one, was accepted before.
    case replayed(OTPCounter, last: OTPCounter)
    /// What was accepted before could not be read or written, so nothing is accepted.
    case store(CounterFileError)
    /// The arithmetic failed: the AES key does not have 16 bytes.
    case crypto(CryptoFault)
}
