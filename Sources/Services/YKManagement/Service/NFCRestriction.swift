// SPDX-License-Identifier: Apache-2.0

import YKProtocols
public import YKTransport
import YKWire

/// The restriction of a YubiKey's NFC (firmware 5.7 and later): on a contactless reader it has nothing but a tag that
/// leads to yubico.com/getting-started, until it has had power in a USB port.
public enum NFCRestriction {
    /// The length of the message and the message (ykman 5.9.2, `is_nfc_restricted`).
    private static let file: [UInt8] = [0x00, 0x1F, 0xD1, 0x01, 0x1B, 0x55, 0x04] + "yubico.com/getting-started".utf8

    /// Whether the card on a contactless reader is a key in that state: reads its tag. False of a card with contacts, which
    /// is asked nothing, and of one that has something else on its tag. Throws what became of the link.
    public static func isMet(_ channel: CardChannel) throws(CardError) -> Bool {
        guard (try? ATR(decoding: channel.identity.atr))?.contactless != nil else { return false }
        do throws(CardError) {
            _ = try channel.select(.ndef)
            let selected = try channel.transmit(APDU(ins: ISO7816.select, p2: 0x0C, data: [0xE1, 0x04]))
            guard selected.status == .ok else { return false }
            return try channel.transmit(APDU(ins: ISO7816.readBinary, le: .bytes(UInt16(file.count)))).data == file
        } catch {
            guard case .link = error else { return false }
            throw error
        }
    }
}
