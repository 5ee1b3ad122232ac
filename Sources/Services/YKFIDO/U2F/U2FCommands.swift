// SPDX-License-Identifier: Apache-2.0

import YKCrypto
import YKProtocols
public import YKWire

/// The messages of U2F (FIDO U2F Raw Message Formats 1.2).
public enum U2F {
    /// Whether AUTHENTICATE waits for a touch (§5.1).
    public struct Control: OpenSet {
        /// The control byte.
        public let rawValue: UInt8
        /// Wraps a control byte.
        public init(rawValue: UInt8) { self.rawValue = rawValue }
        /// Signs after a touch.
        public static let enforcePresence = Control(rawValue: 0x03)
        /// Signs nothing; checks whether the key handle belongs to the key.
        public static let checkOnly = Control(rawValue: 0x07)
        /// Signs without a touch.
        public static let doNotEnforcePresence = Control(rawValue: 0x08)
    }

    /// Size of a challenge or application hash, in bytes.
    public static let hashSize = 32

    static func register(challengeHash: [UInt8], applicationHash: [UInt8]) -> APDU {
        APDU(ins: FIDOProtocol.Instruction.register, data: challengeHash + applicationHash)
    }

    static func authenticate(
        _ control: Control, challengeHash: [UInt8], applicationHash: [UInt8], keyHandle: [UInt8]
    ) -> APDU {
        APDU(
            ins: FIDOProtocol.Instruction.authenticate, p1: control.rawValue,
            data: challengeHash + applicationHash + [UInt8(truncatingIfNeeded: keyHandle.count)] + keyHandle)
    }

    static var version: APDU { APDU(ins: FIDOProtocol.Instruction.version) }
}

// MARK: - The PIN of the YubiKey 4 FIPS

extension U2F {
    /// The lengths of the U2F PIN of a YubiKey 4 FIPS, in bytes of UTF-8 (ykman 5.9.2).
    public static let pinLengths = 6...32

    static func verifyPIN(_ pin: borrowing Secret) -> APDU {
        APDU(ins: FIDOProtocol.Instruction.fipsVerifyPIN, data: pin.copyBytes())
    }

    /// The length of the new PIN in one byte, the old PIN if there is one, the new PIN.
    static func setPIN(_ pin: borrowing Secret, replacing old: borrowing Secret) -> APDU {
        APDU(
            ins: FIDOProtocol.Instruction.fipsSetPIN,
            data: [UInt8(clamping: pin.count)] + old.copyBytes() + pin.copyBytes())
    }

    static var reset: APDU { APDU(ins: FIDOProtocol.Instruction.fipsReset) }
}
