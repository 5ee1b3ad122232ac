// SPDX-License-Identifier: Apache-2.0

import YKTransport
import YKWire

/// The answer to CTAPHID_INIT (CTAP 2.2 §11.2.9.1.3): the nonce, a channel, and the key's properties.
struct InitReply: Hashable, Sendable {
    let channel: CTAPHID.Channel
    let profile: FIDOLinkProfile

    /// Reads the answer; ignores fields that later protocol versions append.
    init(_ payload: [UInt8]) throws(WireError) {
        var reader = ByteReader(payload)
        _ = try reader.bytes(8, "the nonce")
        channel = CTAPHID.Channel(rawValue: try reader.uint32("the channel"))
        _ = try reader.byte("the version of the protocol")
        let major = try reader.byte("the device's version")
        let minor = try reader.byte("the device's version")
        let build = try reader.byte("the device's version")
        let capabilities = try reader.byte("the capabilities")
        profile = FIDOLinkProfile(
            carrier: .hid, hasCTAP2: capabilities & 0x04 != 0, hasU2F: capabilities & 0x08 == 0,
            canWink: capabilities & 0x01 != 0, deviceVersion: FirmwareVersion(major, minor, build))
    }
}
