// SPDX-License-Identifier: Apache-2.0

public import YKHardware
public import YKTransport

/// The readers whose cards are bridged.
public protocol BridgeReaders: Sendable {
    /// Readers and cards being added, changed and removed, starting with those already present.
    func events() -> AsyncStream<ReaderEvent>
    /// Connects to the card in a reader, without locking other programs out.
    func connect(reader: String, deadline: Deadline) throws(LinkError) -> sending any CardLink
}

/// The readers of the smart card service.
public struct ServiceReaders: BridgeReaders {
    /// Creates access to them.
    public init() {}
    /// Readers and cards, as reported by the service.
    public func events() -> AsyncStream<ReaderEvent> { PCSC.watch() }
    /// Connects to the card in a reader.
    public func connect(reader: String, deadline: Deadline) throws(LinkError) -> sending any CardLink {
        try PCSC.connect(reader: reader, deadline: deadline)
    }
}
