// SPDX-License-Identifier: Apache-2.0

import YKCrypto
import YKProtocols
import YKTransport
package import YKWire

/// VERIFY (NIST SP 800-73-4 Part 2 §3.2.1): sends the PIN.
package struct Verify: CardCommand {
    package static let name = "VERIFY"
    package let apdu: APDU

    package init(_ pin: borrowing PIVPIN) {
        apdu = APDU(
            ins: PIVProtocol.Instruction.verify, p2: PIVReference.pin.rawValue, data: pin.copyBytes(), le: .none)
    }
}

/// VERIFY without data: reads the remaining retries without using one up.
struct VerifyQuery: CardCommand {
    static let name = "VERIFY without PIN"
    let reference: PIVReference

    init(_ reference: PIVReference) { self.reference = reference }

    var apdu: APDU { APDU(ins: PIVProtocol.Instruction.verify, p2: reference.rawValue, le: .none) }
}

/// VERIFY with P1 FF: ends the verified state.
struct Unverify: CardCommand {
    static let name = "VERIFY to forget"

    var apdu: APDU {
        APDU(ins: PIVProtocol.Instruction.verify, p1: 0xFF, p2: PIVReference.pin.rawValue, le: .none)
    }
}

/// VERIFY of a fingerprint (YubiKey Bio): waits for a finger.
struct VerifyFingerprint: CardCommand {
    static let name = "VERIFY fingerprint"
    /// Whether to issue a temporary PIN, which replaces the fingerprint for the rest of the session.
    let wantsTemporaryPIN: Bool

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

/// CHANGE REFERENCE DATA (NIST SP 800-73-4 Part 2 §3.2.2): replaces a PIN or PUK.
struct ChangeReference: CardCommand {
    static let name = "CHANGE REFERENCE DATA"
    let apdu: APDU

    init(_ reference: PIVReference, from old: borrowing PIVPIN, to new: borrowing PIVPIN) {
        apdu = APDU(
            ins: PIVProtocol.Instruction.changeReference, p2: reference.rawValue,
            data: old.copyBytes() + new.copyBytes(),
            le: .none)
    }
}

/// RESET RETRY COUNTER (NIST SP 800-73-4 Part 2 §3.2.3): sets a new PIN with the PUK.
struct ResetRetry: CardCommand {
    static let name = "RESET RETRY COUNTER"
    let apdu: APDU

    init(puk: borrowing PIVPIN, newPIN: borrowing PIVPIN) {
        apdu = APDU(
            ins: PIVProtocol.Instruction.resetRetry, p2: PIVReference.pin.rawValue,
            data: puk.copyBytes() + newPIN.copyBytes(),
            le: .none)
    }
}

/// SET RETRIES (Yubico): sets the retry limits of PIN and PUK, and resets both to their defaults.
struct SetRetries: CardCommand {
    static let name = "SET RETRIES"
    let pin: UInt8
    let puk: UInt8

    var apdu: APDU { APDU(ins: PIVProtocol.Instruction.setRetries, p1: pin, p2: puk, le: .none) }
}

/// GENERAL AUTHENTICATE, first half (NIST SP 800-73-4 Part 2 §A.1): requests a block.
struct RequestBlock: CardCommand {
    static let name = "GENERAL AUTHENTICATE (witness)"
    let kind: Kind
    let type: ManagementKeyType

    /// What the block is for.
    enum Kind: Sendable {
        /// Mutual authentication (§A.1.2): the host returns it decrypted.
        case witness
        /// External authentication (§A.1.1): the host returns it encrypted.
        case challenge

        fileprivate var tag: TLV.Tag { self == .witness ? PIVProtocol.Tag.witness : PIVProtocol.Tag.challenge }
    }

    var apdu: APDU {
        let data = TLV(PIVProtocol.Tag.dynamic, TLV(kind.tag, []).encoded).encoded
        return APDU(
            ins: PIVProtocol.Instruction.authenticate, p1: type.rawValue, p2: PIVSlot.management.rawValue, data: data)
    }

    func decode(_ reader: inout ByteReader) throws(WireError) -> [UInt8] {
        var template = try reader.tlv(PIVProtocol.Tag.dynamic, "the template")
        try reader.finish("the template")
        let block = try template.tlvs().required(kind.tag, "\(kind)")
        guard block.count == type.cipher?.blockSize else {
            throw WireError(.malformed, at: 0, "a \(kind) of \(block.count) bytes is not one of \(type)")
        }
        return block
    }
}

/// GENERAL AUTHENTICATE, second half of external authentication: returns the encrypted challenge.
struct AnswerChallenge: CardCommand {
    static let name = "GENERAL AUTHENTICATE (answer)"
    let type: ManagementKeyType
    let answer: [UInt8]

    var apdu: APDU {
        let data = TLV(PIVProtocol.Tag.dynamic, TLV(PIVProtocol.Tag.response, answer).encoded).encoded
        return APDU(
            ins: PIVProtocol.Instruction.authenticate, p1: type.rawValue, p2: PIVSlot.management.rawValue, data: data)
    }
}

/// GENERAL AUTHENTICATE, second half: returns the decrypted witness, and has the card encrypt a challenge. The response is
/// `nil` if the card returns nothing, as some do.
struct AnswerWitness: CardCommand {
    static let name = "GENERAL AUTHENTICATE (answer)"
    let type: ManagementKeyType
    let witness: [UInt8]
    let challenge: [UInt8]

    var apdu: APDU {
        let data = [TLV(PIVProtocol.Tag.witness, witness), TLV(PIVProtocol.Tag.challenge, challenge)].encoded
        return APDU(
            ins: PIVProtocol.Instruction.authenticate, p1: type.rawValue, p2: PIVSlot.management.rawValue,
            data: TLV(PIVProtocol.Tag.dynamic, data).encoded)
    }

    func decode(_ reader: inout ByteReader) throws(WireError) -> [UInt8]? {
        guard !reader.isAtEnd else { return nil }
        var template = try reader.tlv(PIVProtocol.Tag.dynamic, "the template")
        try reader.finish("the template")
        return try template.tlvs().required(PIVProtocol.Tag.response, "response")
    }
}

/// SET MANAGEMENT KEY (Yubico): replaces the management key, optionally requiring a touch.
struct SetManagementKey: CardCommand {
    static let name = "SET MANAGEMENT KEY"
    let apdu: APDU

    init(_ key: borrowing ManagementKey, _ type: ManagementKeyType, needsTouch: Bool) {
        let bytes = key.copyBytes()
        let data = [type.rawValue] + TLV(TLV.Tag(rawValue: UInt32(PIVSlot.management.rawValue)), bytes).encoded
        apdu = APDU(
            ins: PIVProtocol.Instruction.setManagementKey, p1: 0xFF, p2: needsTouch ? 0xFE : 0xFF, data: data, le: .none
        )
    }
}

/// RESET (Yubico): removes all keys and objects; the card allows it only if PIN and PUK are blocked.
struct ResetPIVApplication: CardCommand {
    static let name = "RESET"

    var apdu: APDU { APDU(ins: PIVProtocol.Instruction.reset, le: .none) }
}
