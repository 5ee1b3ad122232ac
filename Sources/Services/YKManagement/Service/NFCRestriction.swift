// SPDX-License-Identifier: Apache-2.0

import YKProtocols
public import YKTransport
import YKWire

/// The NFC restriction of a YubiKey (firmware 5.7 and later): until it has been powered over USB, a contactless reader
/// sees only a tag that links to yubico.com/getting-started.
public enum NFCRestriction {
    /// The length of the message and the message (ykman 5.9.2, `is_nfc_restricted`).
    private static let file: [UInt8] = [0x00, 0x1F, 0xD1, 0x01, 0x1B, 0x55, 0x04] + "yubico.com/getting-started".utf8

    /// Returns whether the card on a contactless reader is a key in that state, by reading its tag. False for a card
    /// with contacts, to which nothing is sent, and for one with another tag. Throws if the link fails.
    public static func isActive(_ channel: CardChannel) throws(CardError) -> Bool {
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
