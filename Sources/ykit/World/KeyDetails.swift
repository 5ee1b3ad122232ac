// SPDX-License-Identifier: Apache-2.0

import YKTransport

/// Who a key is, as far as it says.
struct KeyDetails: Hashable, Sendable {
    var name: String
    var serial: String?
    var version: String?

    init(_ channel: sending CardChannel) throws {
        name = channel.identity.reader
    }
}
