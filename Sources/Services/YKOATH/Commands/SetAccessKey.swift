// SPDX-License-Identifier: Apache-2.0

import YKTransport
package import YKWire

/// SET CODE (YKOATH): sets the access key, proving that the host has it; without a key, removes it.
package struct SetAccessKey: CardCommand {
    package static let name = "SET CODE"
    package let apdu: APDU

    /// Sets `key`; `challenge` is any eight bytes.
    package init(_ key: borrowing AccessKey, challenge: [UInt8]) {
        let kind = OATHType.totp.rawValue | OATHAlgorithm.sha1.rawValue
        let data = [
            TLV(OATHTag.key, [kind] + key.copyBytes()), TLV(OATHTag.challenge, challenge),
            TLV(OATHTag.fullResponse, key.response(to: challenge)),
        ].encoded
        apdu = APDU(ins: OATHInstruction.setCode, data: data, le: .none)
    }

    /// Removes the access key.
    package static let removal = SetAccessKey(
        apdu: APDU(ins: OATHInstruction.setCode, data: TLV(OATHTag.key, []).encoded, le: .none))

    private init(apdu: APDU) { self.apdu = apdu }
}
