// SPDX-License-Identifier: Apache-2.0

public import YKTransport
import YKVirtualKey

/// An event to show to the user who serves a key as a device of this machine.
public enum ServedKeyEvent: Hashable, Sendable {
    /// The key was plugged in; programs find it at this path, which is empty if it has no visible node.
    case inserted(node: String)
    /// The key was unplugged.
    case removed
    /// The host sent a FIDO report.
    case written([UInt8])
    /// The key sent a FIDO report.
    case delivered([UInt8])
    /// The host asked the key to blink.
    case winked
    /// A command APDU and its response; `nil` for no response.
    case exchange(command: [UInt8], response: [UInt8]?)
    /// The key failed.
    case failed(LinkError)
}
