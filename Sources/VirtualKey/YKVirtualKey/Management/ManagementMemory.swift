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
package struct ManagementPower: Sendable {
    /// Whether the key was told to restart.
    var isRestarting = false

    package init() {}
}

extension ManagementPower: Hashable {
    /// Always true: volatile state does not make one key different from another.
    package static func == (left: Self, right: Self) -> Bool { true }
    /// Does nothing.
    package func hash(into hasher: inout Hasher) {}
}

extension ManagementMemory {
    /// The memory as stored in the state file; `nil` if nothing was ever changed.
    var json: JSONValue? {
        guard self != ManagementMemory() else { return nil }
        var object = JSONValue.Object()
        object["usbEnabled"] = usbEnabled.map { .int(Int64($0)) }
        object["nfcEnabled"] = nfcEnabled.map { .int(Int64($0)) }
        object["lockCode"] = lockCode.map { .string(Hex.encode($0)) }
        object["autoEject"] = .int(Int64(autoEject))
        object["challengeResponse"] = .int(Int64(challengeResponse))
        object["flags"] = .int(Int64(flags))
        if isNFCRestricted { object["nfcRestricted"] = true }
        object["mode"] = mode.map { .int(Int64($0)) }
        return .object(object)
    }

    /// Parses the memory in a state file.
    init(_ fields: StateFields) throws(StateFields.Fault) {
        var fields = fields
        self.init()
        if fields.has("usbEnabled") { usbEnabled = try fields.number("usbEnabled", 0...0xFFFF) }
        if fields.has("nfcEnabled") { nfcEnabled = try fields.number("nfcEnabled", 0...0xFFFF) }
        if fields.has("lockCode") {
            let code = try fields.bytes("lockCode")
            guard code.count == 16 else { throw fields.fault("lockCode", "expected 16 bytes") }
            lockCode = code
        }
        autoEject = try fields.number("autoEject", 0...UInt16.max)
        challengeResponse = try fields.number("challengeResponse", 0...UInt8.max)
        flags = try fields.number("flags", 0...UInt8.max)
        isNFCRestricted = try fields.flag("nfcRestricted")
        if fields.has("mode") { mode = try fields.number("mode", 0...6) }
        try fields.finish()
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
