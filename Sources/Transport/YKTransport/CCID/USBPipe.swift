// SPDX-License-Identifier: Apache-2.0

/// The transfers of a claimed interface: real hardware under a card reader, or a test script.
package protocol USBPipe: AnyObject {
    /// Sends a transfer on the bulk endpoint.
    func send(_ data: [UInt8], deadline: Deadline) throws(USBFailure)
    /// Receives a transfer of at most `limit` bytes from the bulk endpoint, or a message from the interrupt endpoint,
    /// whichever comes first; the other is kept for the next call.
    func receive(_ limit: Int, deadline: Deadline) throws(USBFailure) -> USBArrival
    /// A message received on the interrupt endpoint in the meantime, without waiting.
    func news() throws(USBFailure) -> [UInt8]?
    /// Sends a class request without data to the interface.
    func request(_ number: UInt8, value: UInt16, deadline: Deadline) throws(USBFailure)
    /// Clears the halt of a stalled bulk endpoint (USB 2.0 §5.8.5).
    func clearHalt(isIn: Bool) throws(USBFailure)
    /// The maximum packet size of the bulk-in endpoint, in bytes.
    var packetSize: Int { get }
    /// Releases the interface.
    func close()
}

/// Data received from a device.
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

    /// The failure as a link error.
    package var asLinkError: LinkError {
        switch self {
        case .stalled: .unresponsive("the reader halted the transfer")
        case .link(let error): error
        }
    }
}
