// SPDX-License-Identifier: Apache-2.0

import YKProtocols
import YKTransport
import YKWire

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
