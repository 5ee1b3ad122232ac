// SPDX-License-Identifier: Apache-2.0

import YKProtocols
import YKWire

/// Whether a command only reads, or changes the key.
typealias Effect = CommandEffect

extension CommandEffect {
    /// Looks a card command up; what is not known to read counts as a change.
    init(of bytes: [UInt8], in applet: AID?) {
        guard let command = try? APDU(decoding: bytes) else {
            self = .write(reply: nil)
            return
        }
        if command.ins == ISO7816.select && command.p1 == 0x04 || command.ins == ISO7816.getResponse {
            self = .read
        } else {
            self = CardApplication.vocabulary(of: applet)?.effect(of: command) ?? .write(reply: nil)
        }
    }

    /// Looks a FIDO message up; what is not known to read counts as a change.
    init(ofFIDO command: CTAPHID.Command, _ payload: [UInt8]) {
        switch command {
        case .cbor: self = CTAPProtocol.effect(of: payload)
        case .msg: self = (try? APDU(decoding: payload)).map(FIDOProtocol.effect) ?? .write(reply: nil)
        case .init(rawValue: FIDOProtocol.Vendor.readConfig): self = .read
        case .init(rawValue: FIDOProtocol.Vendor.writeConfig), .init(rawValue: FIDOProtocol.Vendor.setMode):
            self = .write(reply: [])
        default: self = .write(reply: nil)
        }
    }
}
