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
        if let identity = try? DeviceIdentity.read(channel) {
            self.init(identity)
        } else {
            self.init(DeviceIdentity(maker: .unknown, product: channel.identity.reader))
        }
    }

    init(_ identity: DeviceIdentity) {
        name = identity.product
        serial = identity.serial
        version = identity.firmware
    }
}
