// SPDX-License-Identifier: Apache-2.0

import YKProtocols
import YKWire

/// What a card reports about itself, kept for use while no card is present.
struct CardDescription: Hashable, Sendable {
    /// The answer to getInfo with its status byte; `nil` if the card has no CTAP2.
    var info: [UInt8]?
    /// Whether it supports U2F.
    var hasU2F: Bool
    /// Whether it is on a contactless reader.
    var isContactless: Bool

    /// The capabilities in the answer to INIT: wink (01), CTAP2 (04), no U2F (08).
    var capabilities: UInt8 { 0x01 | (info != nil ? 0x04 : 0) | (hasU2F ? 0 : 0x08) }

    /// The answer to getInfo as programs get it: unchanged, except that USB is added to the transports. A browser
    /// stores these with a credential, and would otherwise look for it only on contactless readers, which it does not
    /// support. An answer that is not canonical is passed on unchanged.
    static func bridged(_ answer: [UInt8]) -> [UInt8] {
        guard answer.first == CTAPProtocol.Status.ok, let item = try? CBOR(decoding: Array(answer.dropFirst())),
            var map = item.map, [UInt8](item.encoded) == Array(answer.dropFirst()),
            let transports = map[CTAPProtocol.GetInfo.Reply.transports]?.array, !transports.contains("usb")
        else { return answer }
        map[CTAPProtocol.GetInfo.Reply.transports] = .array(transports + ["usb"])
        return [CTAPProtocol.Status.ok] + CBOR.map(map).encoded
    }
}
