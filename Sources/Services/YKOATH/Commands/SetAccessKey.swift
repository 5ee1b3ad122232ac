// SPDX-License-Identifier: Apache-2.0

import YKProtocols
import YKTransport
import YKWire

/// SET CODE (YKOATH): sets the access key and proves that the host has it; without a key, removes it.
struct SetAccessKey: CardCommand {
    static let name = "SET CODE"
    let apdu: APDU

    /// Sets `key`; `challenge` is any eight bytes.
    init(_ key: borrowing AccessKey, challenge: [UInt8]) {
        let kind = OATHType.totp.rawValue | OATHAlgorithm.sha1.rawValue
        let data = [
            TLV(OATHProtocol.Tag.key, [kind] + key.copyBytes()), TLV(OATHProtocol.Tag.challenge, challenge),
            TLV(OATHProtocol.Tag.fullResponse, key.response(to: challenge)),
        ].encoded
        apdu = APDU(ins: OATHProtocol.Instruction.setCode, data: data, le: .none)
    }

    /// Removes the access key.
    static let removal = SetAccessKey(
        apdu: APDU(ins: OATHProtocol.Instruction.setCode, data: TLV(OATHProtocol.Tag.key, []).encoded, le: .none))

    private init(apdu: APDU) { self.apdu = apdu }
}
