// SPDX-License-Identifier: Apache-2.0

public import YKWire

/// What was read of a tag at once.
public struct TagContent: Hashable, Sendable {
    /// How the tag wants to be read.
    public let capabilities: CapabilityContainer
    /// The bytes of its message; empty when it has none.
    public let bytes: [UInt8]

    /// The message; `nil` when there is none. Throws when the bytes are no message.
    public func message() throws(WireError) -> NDEFMessage? {
        bytes.isEmpty ? nil : try NDEFMessage(decoding: bytes)
    }
}
