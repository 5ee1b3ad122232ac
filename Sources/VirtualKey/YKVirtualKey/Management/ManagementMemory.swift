// SPDX-License-Identifier: Apache-2.0

import YKTransport
import YKWire

/// The persistent state of the management application.
package struct ManagementMemory: Hashable, Sendable {
    /// The applications enabled over USB; `nil` for all.
    package var usbEnabled: UInt32?
    /// The applications enabled over NFC; `nil` for all.
    package var nfcEnabled: UInt32?
    /// The lock code that protects the configuration, if set.
    package var lockCode: [UInt8]?
    /// Seconds after which the smart card is ejected.
    package var autoEject: UInt16 = 0
    /// How long challenge-response waits for a touch, in seconds.
    package var challengeResponse: UInt8 = 15
    /// Device flags.
    package var flags: UInt8 = 0
    /// Whether NFC is disabled until the key is in a USB port.
    package var isNFCRestricted = false
    /// The USB mode of a key with firmware before 5; `nil` for all interfaces.
    package var mode: UInt8?

    package init() {}
}

/// The management application's state that is lost on power-off.
package struct ManagementPower: PowerState {
    /// Whether the key was told to restart.
    var isRestarting = false
}

extension ManagementMemory: StateRecord {
    package mutating func visit(_ fields: inout StateFields) throws(StateFields.Fault) {
        try fields("usbEnabled", &usbEnabled, .number(0...0xFFFF))
        try fields("nfcEnabled", &nfcEnabled, .number(0...0xFFFF))
        try fields("lockCode", &lockCode, .bytes(16...16))
        try fields("autoEject", &autoEject, .number(0...UInt16.max))
        try fields("challengeResponse", &challengeResponse, .number(0...UInt8.max))
        try fields("flags", &flags, .number(0...UInt8.max))
        try fields.flag("nfcRestricted", &isNFCRestricted)
        try fields("mode", &mode, .number(0...6))
    }
}

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
