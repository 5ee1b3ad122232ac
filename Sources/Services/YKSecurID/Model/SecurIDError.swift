// SPDX-License-Identifier: Apache-2.0

public import YKCrypto
public import YKWire

/// Why a token could not be read, written or used.
public enum SecurIDError: Error, Hashable, Sendable {
    /// The input is not a token in a known form.
    case format(String)
    /// The XML of a file cannot be read.
    case xml(WireError)
    /// A field is missing or outside its range.
    case field(String)
    /// The checksum or the message authentication code of a CTF string is wrong.
    case checksum
    /// A message authentication code of a file is wrong: the content was modified.
    case mac(String)
    /// The token is protected with a password, and none was given.
    case passwordNeeded
    /// The password is wrong.
    case wrongPassword
    /// The token is bound to a device, no device class matches, and no device identifier was given.
    case deviceNeeded
    /// The device identifier is wrong.
    case wrongDevice
    /// The token is bound to a different device.
    case boundElsewhere(serial: String, device: String)
    /// The token has expired.
    case expired(serial: String, UTCDate)
    /// The PIN does not follow the rules.
    case pin(PINRule)
    /// The input holds several tokens, given by their serial numbers.
    case severalTokens([String])
    /// The input holds no token with this serial number.
    case noSuchToken(String)
    /// A value is longer than allowed.
    case tooLong(String, limit: Int)
    /// An activation code contains something other than letters and digits, or is empty.
    case activationCode
    /// A cryptographic operation failed.
    case crypto(CryptoFault)
    /// The system provided no random bytes.
    case random

    /// The rule that a PIN violates.
    public enum PINRule: Hashable, Sendable {
        /// 4 to 8 characters.
        case length
        /// Digits only, for a PINPad token.
        case digits
        /// Letters and digits without spaces.
        case characters
    }
}
