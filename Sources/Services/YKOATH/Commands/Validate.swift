// SPDX-License-Identifier: Apache-2.0

import YKCrypto
import YKProtocols
import YKTransport
package import YKWire

/// VALIDATE (YKOATH): answers the key's challenge and sends one in return.
package struct Validate: CardCommand {
    package static let name = "VALIDATE"
    package let response: [UInt8]
    package let challenge: [UInt8]
    private let expected: [UInt8]
    private let acceptsOverwritten: Bool

    /// Answers `theirs` and sends `ours`. With `acceptsOverwritten` an all-zero response passes, because recordings
    /// have their secrets overwritten.
    package init(
        _ key: borrowing AccessKey, theirs: [UInt8], ours: [UInt8], acceptsOverwritten: Bool = false
    ) {
        self.acceptsOverwritten = acceptsOverwritten
        response = key.response(to: theirs)
        challenge = ours
        expected = key.response(to: ours)
    }

    package var apdu: APDU {
        let data = [TLV(OATHProtocol.Tag.fullResponse, response), TLV(OATHProtocol.Tag.challenge, challenge)].encoded
        return APDU(ins: OATHProtocol.Instruction.validate, data: data)
    }

    /// Throws unless the key answered our challenge with the same access key.
    package func decode(_ reader: inout ByteReader) throws(WireError) {
        var value = try reader.tlv(OATHProtocol.Tag.fullResponse, "the answer to our challenge")
        let start = value.offset
        let answer = value.rest()
        let isOverwritten = acceptsOverwritten && !answer.isEmpty && answer.allSatisfy { $0 == 0 }
        guard isOverwritten || constantTimeEqual(answer, expected) else {
            throw WireError(.malformed, at: start, "the answer to our challenge is wrong")
        }
        try reader.finish("the answer to our challenge")
    }
}
