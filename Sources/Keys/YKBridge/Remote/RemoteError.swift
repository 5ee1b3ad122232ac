// SPDX-License-Identifier: Apache-2.0

public import YKVirtualKeyHost
public import YKWire

/// Why a remote bridge did not start, or ended.
public enum RemoteError: Error, Hashable, Sendable {
    /// The other end ended, or sent something else, before its greeting; with the beginning of what it sent.
    case noGreeting(String)
    /// The ends have no protocol version in common; with the versions of this end and of the other one, and the program
    /// that the other one claims to be.
    case incompatible(own: ClosedRange<UInt8>, other: ClosedRange<UInt8>, program: String)
    /// The other end violated the protocol.
    case violation(WireError)
    /// The other end ended the connection for a reason.
    case ended(RemoteEnding)
    /// The connection was cut, or the other end was silent for too long.
    case lost
    /// The far end does not know applications of cards; what it says its program is.
    case noCards(program: String)
    /// The far end has no reader to put the card into, or no longer.
    case reader(VPCDError)
    /// The device could not be created.
    case device(UHIDError)
    /// The key does not support FIDO2.
    case noFIDO2
    /// The system allows no more threads.
    case noThread
}
