// SPDX-License-Identifier: Apache-2.0

import YKManagement
import YKTransport

/// Who a key is, as far as it says.
struct KeyDetails: Hashable, Sendable {
    var name: String
    var serial: String?
    var version: String?

    /// Asks the key; one that does not answer the question, as a recording of something else, has its reader's name.
    init(_ channel: CardChannel) {
        do { self.init(try DeviceIdentity.read(channel)) } catch {
            let name = error == .nfcRestricted ? "YubiKey in its NFC restricted mode" : channel.identity.reader
            self.init(DeviceIdentity(maker: .unknown, product: name))
        }
    }

    init(_ identity: DeviceIdentity) {
        name = identity.product
        serial = identity.serial
        version = identity.firmware
    }
}
