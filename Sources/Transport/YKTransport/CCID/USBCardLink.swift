// SPDX-License-Identifier: Apache-2.0

import YKWire

/// A card in a USB reader without a smart card service. While the link is open no other program can use the reader.
package final class USBCardLink: CardLink {
    package private(set) var identity: CardIdentity
    private let card: CCIDCard
    private var isLost = false
    private var isRemoved = false
    private var isClosed = false
    /// Whether the last exchange did not complete, so that card and reader are out of sync.
    private var isBroken = false

    /// Powers the card.
    package init(_ card: CCIDCard, reader: String, deadline: Deadline) throws(LinkError) {
        self.card = card
        identity = CardIdentity(reader: reader, atr: [])
        do { try card.powerOn(deadline: deadline) } catch {
            card.slot.close()
            isClosed = true
            if case .noCard = error { throw .noCard(reader: reader) }
            if case .unresponsive(let why) = error { throw .unresponsive("\(reader): \(why)") }
            throw error
        }
        adopt()
    }

    deinit { close() }

    package func exchange(_ command: [UInt8], deadline: Deadline) throws(LinkError) -> [UInt8] {
        guard !command.isEmpty else { throw .malformed(WireError(.truncated, at: 0, "a command without bytes")) }
        try check()
        guard !isBroken else { throw .reset }
        let reply = try guarded { () throws(LinkError) in try card.exchange(command, deadline: deadline) }
        guard reply.count >= 2 else {
            isBroken = true
            throw .malformed(
                WireError(.truncated, at: reply.count, "a reply of \(reply.count) bytes, expected 2 or more"))
        }
        return reply
    }

    /// Does not lock, since the reader is in exclusive use; the card may have been removed.
    package func begin(deadline: Deadline) throws(LinkError) -> Bool {
        try check()
        if isBroken { try reset(.cold, deadline: deadline) }
        try checkCard(deadline: deadline)
        defer { isLost = false }
        return isLost
    }

    package func end() {}

    /// Throws `removed` when the card was removed or replaced.
    package func checkCard(deadline: Deadline) throws(LinkError) {
        try check()
        let isThere = try guarded { () throws(LinkError) in try card.keepsPower(deadline: deadline) }
        guard isThere else {
            isRemoved = true
            throw .removed
        }
    }

    /// The bit of the protocol in use, 0 for T=0.
    package var protocolBit: Int { card.protocolNumber }

    /// Sends a command to the reader; a command unknown to the reader is not a card failure.
    package func escape(_ bytes: [UInt8], deadline: Deadline) throws(LinkError) -> [UInt8] {
        try check()
        let answer = try guarded { () throws(LinkError) -> Result<[UInt8], LinkError> in
            do throws(LinkError) { return .success(try card.escape(bytes, deadline: deadline)) } catch {
                guard case .failed = error else { throw error }
                return .failure(error)
            }
        }
        return try answer.get()
    }

    package func reset(_ kind: CardReset, deadline: Deadline) throws(LinkError) {
        try check()
        isLost = true
        if kind == .cold { card.powerOff(deadline: deadline) }
        try guarded { () throws(LinkError) in try card.powerOn(deadline: deadline) }
        isBroken = false
        adopt()
    }

    package func close() {
        guard !isClosed else { return }
        isClosed = true
        if !isRemoved { card.powerOff(deadline: .after(.seconds(1))) }
        card.slot.close()
    }

    private func adopt() {
        identity.atr = card.atr
        identity.maxCommandLength = card.maxCommandLength
    }

    private func check() throws(LinkError) {
        if isRemoved || isClosed { throw .removed }
    }

    /// Notes the effect of a failure on the next exchange.
    private func guarded<Value>(_ body: () throws(LinkError) -> Value) throws(LinkError) -> Value {
        do { return try body() } catch {
            switch error {
            case .removed, .noCard:
                isRemoved = true
                throw .removed
            default: isBroken = true
            }
            throw error
        }
    }
}

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
