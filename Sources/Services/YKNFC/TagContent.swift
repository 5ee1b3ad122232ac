// SPDX-License-Identifier: Apache-2.0

public import YKWire

/// The content of a tag, read in one operation.
public struct TagContent: Hashable, Sendable {
    /// The tag's capability container.
    public let capabilities: CapabilityContainer
    /// The bytes of its message; empty if it has none.
    public let bytes: [UInt8]

    /// Decodes the message; `nil` if there is none. Throws if the bytes are not a message.
    public func message() throws(WireError) -> NDEFMessage? {
        bytes.isEmpty ? nil : try NDEFMessage(decoding: bytes)
    }
}
