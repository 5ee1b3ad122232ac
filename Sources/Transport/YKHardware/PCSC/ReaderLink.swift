// SPDX-License-Identifier: Apache-2.0

public import YKTransport

/// A card whose reader can be asked as well: one behind the smart card service, or on the USB without it.
public protocol ReaderLink: CardLink {
    /// What the service says of the card and the connection to it (SCardStatus).
    func connection(deadline: Deadline) throws(LinkError) -> CardConnection
    /// Sends bytes to the reader rather than to the card, and gives what it answers (SCardControl); what a code means is
    /// the reader's own affair, or that of PC/SC part 10.
    func control(_ code: UInt32, _ bytes: [UInt8], deadline: Deadline) throws(LinkError) -> [UInt8]
    /// An attribute of reader or card by its tag (SCardGetAttrib, PC/SC part 3 §3.1.9).
    func attribute(_ tag: UInt32, deadline: Deadline) throws(LinkError) -> [UInt8]
}

/// What the smart card service says of a connection to a card.
public struct CardConnection: Hashable, Sendable {
    /// The bits of SCARD_PRESENT, SCARD_POWERED and others; above them, in pcsc-lite, how often a card came or went.
    public var state: UInt32
    /// The bit of the protocol in use.
    public var activeProtocol: UInt32
    /// The answer to reset.
    public var atr: [UInt8]

    /// Says what is known of a connection.
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
