// SPDX-License-Identifier: Apache-2.0

import YKWire

/// The endpoints of a card reader (CCID 1.1 §5).
struct USBReaderEndpoints: Hashable, Sendable {
    var output: UInt8
    var input: UInt8
    var packetSize: Int
    /// The endpoint on which the reader reports card insertion and removal; not every reader has one.
    var interrupt: UInt8?
    /// The maximum size of such a report, in bytes.
    var newsSize: Int

    /// Finds the endpoints; `nil` if the interface lacks one of the two bulk endpoints.
    init?(_ interface: USBDescriptors.Interface) {
        guard let output = interface.endpoint(.bulk, isIn: false), let input = interface.endpoint(.bulk, isIn: true)
        else { return nil }
        self.output = output.address
        self.input = input.address
        packetSize = max(8, input.packetSize)
        let news = interface.endpoint(.interrupt, isIn: true)
        interrupt = news?.address
        newsSize = max(8, news?.packetSize ?? 8)
    }
}
