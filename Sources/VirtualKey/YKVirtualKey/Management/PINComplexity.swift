// SPDX-License-Identifier: Apache-2.0

/// The PIN complexity policy of firmware 5.7 for FIDO, PIV and OpenPGP: rejects PINs of one repeated character and
/// commonly used PINs.
enum PINComplexity {
    /// Common PINs and passwords: those named in Yubico's documentation and the usual sequences. Yubico's own list is
    /// longer.
    private static let common: Set<String> = [
        "123456", "1234567", "12345678", "123456789", "1234567890", "654321", "87654321", "123123", "12341234",
        "112233", "11223344", "121212", "12121212", "123321", "012345", "0123456", "01234567", "abc123", "abcd1234",
        "abcdef", "abcdefgh", "password", "password1", "passw0rd", "qwerty", "qwerty12", "qwertyui", "letmein",
        "iloveyou", "sunshine", "princess", "football", "baseball", "welcome", "monkey", "dragon", "master",
    ]

    /// Whether the policy rejects a PIN, given as its bytes without padding. Ignores case.
    static func isTrivial(_ pin: [UInt8]) -> Bool {
        Set(pin).count < 2 || common.contains(String(decoding: pin, as: UTF8.self).lowercased())
    }
}
