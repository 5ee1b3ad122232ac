// SPDX-License-Identifier: Apache-2.0

/// The PIN complexity policy of firmware 5.7 for FIDO, PIV and OpenPGP: a PIN of one repeated character and a PIN in
/// common use are refused.
enum PINComplexity {
    /// Common PINs and passwords. Yubico's own list is longer; these are the ones that its documentation names and the
    /// usual sequences.
    private static let common: Set<String> = [
        "123456", "1234567", "12345678", "123456789", "1234567890", "654321", "87654321", "123123", "12341234",
        "112233", "11223344", "121212", "12121212", "123321", "012345", "0123456", "01234567", "abc123", "abcd1234",
        "abcdef", "abcdefgh", "password", "password1", "passw0rd", "qwerty", "qwerty12", "qwertyui", "letmein",
        "iloveyou", "sunshine", "princess", "football", "baseball", "welcome", "monkey", "dragon", "master",
    ]

    /// Whether the policy refuses a PIN, given as its bytes without padding; case makes no difference.
    static func isTrivial(_ pin: [UInt8]) -> Bool {
        Set(pin).count < 2 || common.contains(String(decoding: pin, as: UTF8.self).lowercased())
    }
}
