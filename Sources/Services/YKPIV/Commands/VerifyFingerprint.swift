// SPDX-License-Identifier: Apache-2.0

import YKCrypto
import YKProtocols
import YKTransport
import YKWire

/// VERIFY of a fingerprint (YubiKey Bio): waits for a finger.
struct VerifyFingerprint: CardCommand {
    static let name = "VERIFY fingerprint"
    /// Whether to issue a temporary PIN, which replaces the fingerprint for the rest of the session.
    let wantsTemporaryPIN: Bool

    init(wantsTemporaryPIN: Bool) { self.wantsTemporaryPIN = wantsTemporaryPIN }

    var apdu: APDU {
        let data = TLV(wantsTemporaryPIN ? 0x02 : 0x03, []).encoded
        return APDU(ins: PIVProtocol.Instruction.verify, p2: PIVReference.fingerprint.rawValue, data: data)
    }

    /// The 16 bytes of a temporary PIN; empty if none was requested.
    func decode(_ reader: inout ByteReader) throws(WireError) -> [UInt8] {
        let bytes = reader.rest()
        guard !wantsTemporaryPIN || bytes.count == 16 else {
            throw WireError(.malformed, at: 0, "a temporary PIN of \(bytes.count) bytes, not 16")
        }
        return wantsTemporaryPIN ? bytes : []
    }
}

/// VERIFY of a temporary PIN (YubiKey Bio).
struct VerifyTemporaryPIN: CardCommand {
    static let name = "VERIFY temporary PIN"
    let apdu: APDU

    init(_ pin: borrowing Secret) {
        let data = TLV(0x01, pin.copyBytes()).encoded
        apdu = APDU(ins: PIVProtocol.Instruction.verify, p2: PIVReference.fingerprint.rawValue, data: data, le: .none)
    }
}
