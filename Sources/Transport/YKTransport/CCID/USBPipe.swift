// SPDX-License-Identifier: Apache-2.0

/// The transfers of one interface that is claimed: the metal under a card reader, or a script of a test.
package protocol USBPipe: AnyObject {
    /// Sends a transfer on the bulk endpoint.
    func send(_ data: [UInt8], deadline: Deadline) throws(USBFailure)
    /// Takes a transfer of at most `limit` bytes from the bulk endpoint, or what the interrupt endpoint has to tell,
    /// whichever comes first; the other is kept for the next time.
    func receive(_ limit: Int, deadline: Deadline) throws(USBFailure) -> USBArrival
    /// What the interrupt endpoint told meanwhile, without waiting.
    func news() throws(USBFailure) -> [UInt8]?
    /// A class request to the interface that carries no data.
    func request(_ number: UInt8, value: UInt16, deadline: Deadline) throws(USBFailure)
    /// Makes a bulk endpoint that stalled usable again (USB 2.0 §5.8.5).
    func clearHalt(isIn: Bool) throws(USBFailure)
    /// The longest packet from the device on the bulk endpoint, in bytes.
    var packetSize: Int { get }
    /// Lets go of the interface.
    func close()
}

/// What came from a device.
package enum USBArrival: Hashable, Sendable {
    /// A transfer of the bulk endpoint.
    case data([UInt8])
    /// A transfer of the interrupt endpoint.
    case news([UInt8])
}

/// Why a transfer failed.
package enum USBFailure: Error, Hashable, Sendable {
    /// The endpoint is halted.
    case stalled
    /// Anything else.
    case link(LinkError)

    /// The failure for who knows nothing of endpoints.
    package var asLinkError: LinkError {
        switch self {
        case .stalled: .unresponsive("the reader halted the transfer")
        case .link(let error): error
        }
    }
}
