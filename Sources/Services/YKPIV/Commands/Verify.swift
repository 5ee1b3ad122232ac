// SPDX-License-Identifier: Apache-2.0

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

    init() {}

    var apdu: APDU {
        APDU(ins: PIVProtocol.Instruction.verify, p1: 0xFF, p2: PIVReference.pin.rawValue, le: .none)
    }
}
