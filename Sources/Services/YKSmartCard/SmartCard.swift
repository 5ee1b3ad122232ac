// SPDX-License-Identifier: Apache-2.0

import YKHardware
import YKTransport
public import YKWire

/// A connected card (PC/SC part 5 §3.2.5, SCARDHANDLE).
public final class SmartCard {
    /// What happens to a card at the end of a connection or transaction (SCARD_LEAVE_CARD and others).
    public enum Disposition: UInt32, Sendable, Hashable, CaseIterable {
        /// Nothing.
        case leave = 0
        /// A warm reset.
        case reset = 1
        /// Power off.
        case unpower = 2
        /// Ejection; readers for keys do not support it, so the card is powered off.
        case eject = 3
    }

    /// The status of a card (SCardStatus).
    public struct Status: Hashable, Sendable {
        /// The name of its reader.
        public let reader: String
        /// The bits of SCARD_PRESENT, SCARD_POWERED and SCARD_SPECIFIC that apply.
        public let state: UInt32
        /// The protocol in use.
        public let activeProtocol: SmartCardProtocol
        /// The answer to reset.
        public let atr: [UInt8]
    }

    /// The protocol in use.
    public private(set) var activeProtocol: SmartCardProtocol
    private let link: any CardLink
    private let cancellation: Cancellation
    private var isConnected = true
    private var transactions = 0

    /// Maximum length of a command APDU.
    static let longest = 4 + 3 + 65535 + 2

    init(_ link: any CardLink, _ activeProtocol: SmartCardProtocol, _ cancellation: Cancellation) {
        self.link = link
        self.activeProtocol = activeProtocol
        self.cancellation = cancellation
    }

    deinit { if isConnected { link.close() } }

    /// Reconnects, resetting the card if requested (SCardReconnect); returns the protocol in use.
    public func reconnect(
        protocols: SmartCardProtocol = .any, initialization: Disposition = .leave
    ) throws(SmartCardError) -> SmartCardProtocol {
        try connected { deadline throws(LinkError) in
            if initialization == .leave {
                _ = try link.begin(deadline: deadline)
                if transactions == 0 { link.end() }
            } else {
                try reset(initialization, deadline)
            }
        }
        guard let active = protocols.active(for: link.identity.atr) else { throw .protocolMismatch }
        activeProtocol = active
        return active
    }

    /// Disconnects the card (SCardDisconnect); every later call throws `invalidHandle`.
    public func disconnect(_ disposition: Disposition = .leave) throws(SmartCardError) {
        defer {
            if isConnected { link.close() }
            isConnected = false
        }
        try connected { deadline throws(LinkError) in try reset(disposition, deadline) }
    }

    /// Locks the card for this program, after waiting for other programs (SCardBeginTransaction). Transactions nest.
    public func beginTransaction() throws(SmartCardError) {
        try connected { deadline throws(LinkError) in
            if transactions == 0 { _ = try link.begin(deadline: deadline) }
        }
        transactions += 1
    }

    /// Unlocks the card (SCardEndTransaction).
    ///
    /// - Throws: `notTransacted` without a transaction.
    public func endTransaction(_ disposition: Disposition = .leave) throws(SmartCardError) {
        guard isConnected else { throw .invalidHandle }
        guard transactions > 0 else { throw .notTransacted }
        transactions -= 1
        defer { if transactions == 0 { link.end() } }
        try connected { deadline throws(LinkError) in try reset(disposition, deadline) }
    }

    /// Returns the card's status (SCardStatus).
    ///
    /// - Throws: `removedCard` and `resetCard` if the service reports them.
    public func status() throws(SmartCardError) -> Status {
        guard isConnected else { throw .invalidHandle }
        let identity = link.identity
        if let link = link as? any ReaderLink {
            let found = try connected { deadline throws(LinkError) in try link.connection(deadline: deadline) }
            return Status(
                reader: identity.reader, state: found.state,
                activeProtocol: SmartCardProtocol(rawValue: found.activeProtocol), atr: found.atr)
        }
        // SCARD_PRESENT, SCARD_POWERED, SCARD_SPECIFIC.
        return Status(
            reader: identity.reader, state: 0x0004 | 0x0010 | 0x0040, activeProtocol: activeProtocol, atr: identity.atr)
    }

    /// Sends a command APDU and returns the response APDU (SCardTransmit).
    ///
    /// - Throws: `invalidParameter` for fewer than four bytes, `insufficientBuffer` for more than the maximum,
    ///   `resetCard`, `removedCard` and others.
    public func transmit(_ command: [UInt8]) throws(SmartCardError) -> [UInt8] {
        guard isConnected else { throw .invalidHandle }
        guard command.count >= 4 else { throw .invalidParameter }
        guard command.count <= Self.longest else { throw .insufficientBuffer }
        return try connected { deadline throws(LinkError) in try link.exchange(command, deadline: deadline) }
    }

    /// Sends bytes to the reader instead of the card, and returns its answer (SCardControl).
    ///
    /// For a USB reader without the service the code 42000001 is PC_to_RDR_Escape (CCID 1.1 §6.1.8), which libccid only
    /// allows if configured, and 42000D48 lists it.
    ///
    /// - Throws: `unsupportedFeature` for a code that the reader does not support, and for simulated cards.
    public func control(_ code: UInt32, _ bytes: [UInt8] = []) throws(SmartCardError) -> [UInt8] {
        guard isConnected else { throw .invalidHandle }
        guard let link = link as? any ReaderLink else { throw .unsupportedFeature }
        return try connected { deadline throws(LinkError) in
            try link.control(code, bytes, deadline: deadline)
        }
    }

    /// Returns an attribute of reader or card by its tag (SCardGetAttrib).
    ///
    /// - Throws: `unsupportedFeature` for one that neither this module nor the reader supports.
    public func getAttrib(_ attribute: SmartCardAttribute) throws(SmartCardError) -> [UInt8] {
        guard isConnected else { throw .invalidHandle }
        let identity = link.identity
        switch attribute {
        case .atr: return identity.atr
        case .friendlyName, .systemName: return Array(identity.reader.utf8) + [0]
        case .currentProtocol: return Self.littleEndian(activeProtocol.rawValue)
        case .presence: return [2]
        case .maxInput: return Self.littleEndian(UInt32(clamping: identity.maxCommandLength ?? 261))
        default:
            guard let link = link as? any ReaderLink else { throw .unsupportedFeature }
            return try connected { deadline throws(LinkError) in
                try link.attribute(attribute.rawValue, deadline: deadline)
            }
        }
    }

    private static func littleEndian(_ number: UInt32) -> [UInt8] {
        var writer = ByteWriter(capacity: 4)
        writer.littleEndian(UInt64(number), 4)
        return writer.bytes
    }

    private func reset(_ disposition: Disposition, _ deadline: Deadline) throws(LinkError) {
        switch disposition {
        case .leave: return
        case .reset: try link.reset(.warm, deadline: deadline)
        case .unpower, .eject: try link.reset(.cold, deadline: deadline)
        }
    }

    private func connected<Value>(_ body: (Deadline) throws(LinkError) -> Value) throws(SmartCardError) -> Value {
        guard isConnected else { throw .invalidHandle }
        return try lift(SmartCardError.init) { () throws(LinkError) in
            try body(.after(SmartCardContext.patience, cancellation: cancellation))
        }
    }
}

/// An attribute of a reader or card (SCARD_ATTR_…).
public struct SmartCardAttribute: OpenSet {
    /// The tag.
    public let rawValue: UInt32
    /// Wraps a tag.
    public init(rawValue: UInt32) { self.rawValue = rawValue }
    /// SCARD_ATTR_ATR_STRING: the answer to reset.
    public static let atr = SmartCardAttribute(rawValue: 0x0009_0303)
    /// SCARD_ATTR_DEVICE_FRIENDLY_NAME: the reader's name, ended with a zero.
    public static let friendlyName = SmartCardAttribute(rawValue: 0x7FFF_0003)
    /// SCARD_ATTR_DEVICE_SYSTEM_NAME: the same here.
    public static let systemName = SmartCardAttribute(rawValue: 0x7FFF_0004)
    /// SCARD_ATTR_CURRENT_PROTOCOL_TYPE: the protocol in use, four bytes, least significant first.
    public static let currentProtocol = SmartCardAttribute(rawValue: 0x0008_0201)
    /// SCARD_ATTR_ICC_PRESENCE: 2 if a card is present.
    public static let presence = SmartCardAttribute(rawValue: 0x0009_0300)
    /// SCARD_ATTR_MAXINPUT: the longest command APDU, four bytes, least significant first.
    public static let maxInput = SmartCardAttribute(rawValue: 0x0007_A007)
}

/// A transmission protocol of card and reader (SCARD_PROTOCOL_…).
public struct SmartCardProtocol: OptionSet, Hashable, Sendable {
    /// The bits.
    public let rawValue: UInt32
    /// Wraps bits.
    public init(rawValue: UInt32) { self.rawValue = rawValue }
    /// T=0 (ISO 7816-3 §10).
    public static let t0 = SmartCardProtocol(rawValue: 1)
    /// T=1 (ISO 7816-3 §11).
    public static let t1 = SmartCardProtocol(rawValue: 2)
    /// Raw bytes.
    public static let raw = SmartCardProtocol(rawValue: 4)
    /// T=0 or T=1.
    public static let any: SmartCardProtocol = [.t0, .t1]

    /// The protocol to use with a card, T=1 before T=0; `nil` if none of these is offered.
    func active(for atr: [UInt8]) -> SmartCardProtocol? {
        let offered = ((try? ATR(decoding: atr))?.protocols).map { numbers in
            SmartCardProtocol(numbers.compactMap { $0 == 0 ? .t0 : $0 == 1 ? .t1 : nil })
        }
        let usable = intersection((offered ?? .any).union(.raw))
        return [.t1, .t0, .raw].first { usable.contains($0) }
    }
}
