// SPDX-License-Identifier: Apache-2.0

public import YKVirtualKeyHost
public import YKWire

/// Why a remote bridge did not start, or ended.
public enum RemoteError: Error, Hashable, Sendable {
    /// The other end ended, or sent something else, before it greeted; the beginning of that.
    case noGreeting(String)
    /// The ends have no version of the protocol in common: the versions of this end, those of the other one, and what the
    /// other one says its program is.
    case incompatible(own: ClosedRange<UInt8>, other: ClosedRange<UInt8>, program: String)
    /// The other end did not keep to the protocol.
    case violation(WireError)
    /// The other end ended the connection for a reason.
    case ended(RemoteEnding)
    /// The connection was cut, or the other end was not heard of for too long.
    case lost
    /// The device could not be made.
    case device(UHIDError)
    /// The key has no FIDO2.
    case noFIDO2
    /// The system allows no more threads.
    case noThread
}
