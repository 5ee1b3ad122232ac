// SPDX-License-Identifier: Apache-2.0

import YKWire

/// The endpoints of a card reader (CCID 1.1 §5).
struct USBReaderEndpoints: Hashable, Sendable {
    var output: UInt8
    var input: UInt8
    var packetSize: Int
    /// Where it tells that a card comes or goes; not every reader does.
    var interrupt: UInt8?
    /// The longest news, in bytes.
    var newsSize: Int

    /// Finds them; `nil` when the interface lacks one of the two for data.
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
