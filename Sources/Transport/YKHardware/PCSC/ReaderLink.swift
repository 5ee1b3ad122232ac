// SPDX-License-Identifier: Apache-2.0

public import YKTransport

/// A card link with access to the reader: through the smart card service, or on USB without it.
public protocol ReaderLink: CardLink {
    /// Returns the state of the card and its connection (SCardStatus).
    func connection(deadline: Deadline) throws(LinkError) -> CardConnection
    /// Sends bytes to the reader instead of the card, and returns its response (SCardControl); codes are
    /// vendor-specific, or defined in PC/SC part 10.
    func control(_ code: UInt32, _ bytes: [UInt8], deadline: Deadline) throws(LinkError) -> [UInt8]
    /// Returns an attribute of reader or card by its tag (SCardGetAttrib, PC/SC part 3 §3.1.9).
    func attribute(_ tag: UInt32, deadline: Deadline) throws(LinkError) -> [UInt8]
}

/// The state of a connection to a card.
public struct CardConnection: Hashable, Sendable {
    /// The bits of SCARD_PRESENT, SCARD_POWERED and others; above them, in pcsc-lite, the number of card insertions and
    /// removals.
    public var state: UInt32
    /// The bit of the active protocol.
    public var activeProtocol: UInt32
    /// The answer to reset.
    public var atr: [UInt8]

    /// Creates a connection state.
    public init(state: UInt32, activeProtocol: UInt32, atr: [UInt8]) {
        self.state = state
        self.activeProtocol = activeProtocol
        self.atr = atr
    }
}

extension PCSCLink: ReaderLink {
    func connection(deadline: Deadline) throws(LinkError) -> CardConnection {
        try run("the state of the card", deadline) { session throws(PCSCFailure) in try session.connection() }
    }

    func control(_ code: UInt32, _ bytes: [UInt8], deadline: Deadline) throws(LinkError) -> [UInt8] {
        try run("the reader's answer", deadline) { session throws(PCSCFailure) in try session.control(code, bytes) }
    }

    func attribute(_ tag: UInt32, deadline: Deadline) throws(LinkError) -> [UInt8] {
        try run("an attribute of the reader", deadline) { session throws(PCSCFailure) in try session.attribute(tag) }
    }
}
