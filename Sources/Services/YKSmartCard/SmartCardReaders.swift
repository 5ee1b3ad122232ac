// SPDX-License-Identifier: Apache-2.0

import Synchronization
public import YKHardware
public import YKTransport

/// A source of readers and cards: the smart card service, or custom links.
public protocol SmartCardReaders: Sendable {
    /// Returns the readers and their cards.
    func readers(deadline: Deadline) throws(LinkError) -> [ReaderStatus]
    /// Waits until they differ from `known`; returns at once if they already do.
    func readers(otherThan known: [ReaderStatus], deadline: Deadline) throws(LinkError) -> [ReaderStatus]
    /// Powers the card in a reader and connects to it.
    func connect(
        reader: String, share: PCSC.Share, deadline: Deadline
    ) throws(LinkError) -> sending any CardLink
}

extension SmartCardReaders {
    /// Polls the readers until a reader or card changes.
    public func readers(otherThan known: [ReaderStatus], deadline: Deadline) throws(LinkError) -> [ReaderStatus] {
        try Pause.until(deadline, "a change of the readers") { () throws(LinkError) in
            let now = try readers(deadline: deadline)
            return now == known ? nil : now
        }
    }
}

/// The readers of this computer's smart card service (pcscd).
public struct ServiceReaders: SmartCardReaders {
    /// Creates the source; the service is contacted when first needed.
    public init() {}

    /// Returns the readers of the service.
    public func readers(deadline: Deadline) throws(LinkError) -> [ReaderStatus] {
        try PCSC.readers(timeout: deadline.remaining)
    }

    /// Waits for a reader or card to change.
    public func readers(otherThan known: [ReaderStatus], deadline: Deadline) throws(LinkError) -> [ReaderStatus] {
        try PCSC.readers(otherThan: known, deadline: deadline)
    }

    /// Connects to a card.
    public func connect(
        reader: String, share: PCSC.Share, deadline: Deadline
    ) throws(LinkError) -> sending any CardLink {
        try PCSC.connect(reader: reader, share: share, deadline: deadline)
    }
}

/// The USB readers of this computer, without any service; a connected card is used exclusively.
public struct USBReaders: SmartCardReaders {
    /// Creates the source; devices are opened when first needed.
    public init() {}

    /// Returns the USB readers without opening them: each is reported with a card, as a key always has one, and without
    /// an answer to reset.
    public func readers(deadline: Deadline) throws(LinkError) -> [ReaderStatus] {
        DirectUSB.devices().filter { $0.reader != nil }.map { ReaderStatus(name: Self.name($0), hasCard: true) }
    }

    /// Powers the card in a reader and connects to it, always exclusively.
    public func connect(
        reader: String, share: PCSC.Share, deadline: Deadline
    ) throws(LinkError) -> sending any CardLink {
        guard let device = DirectUSB.devices().first(where: { $0.reader != nil && Self.name($0) == reader }) else {
            throw .unknownReader(reader)
        }
        return try DirectUSB.connect(device, deadline: deadline)
    }

    /// Two keys of the same model have different ports.
    private static func name(_ device: USBDevice) -> String { "\(device.readerName) \(device.usbPath)" }
}

/// Simulated readers: virtual keys and recordings instead of cards.
public final class PlayedReaders: SmartCardReaders {
    /// Opens a new connection to a card.
    public typealias Card = @Sendable () throws(LinkError) -> sending any CardLink

    private struct Reader {
        let name: String
        var atr: [UInt8]
        var card: Card?
    }

    private let list = Mutex<[Reader]>([])

    /// Creates the source without readers.
    public init() {}

    /// Inserts a card into a reader, which is attached first if necessary.
    public func insert(_ name: String, atr: [UInt8], card: @escaping Card) {
        list.withLock { list in
            list.removeAll { $0.name == name }
            list.append(Reader(name: name, atr: atr, card: card))
        }
    }

    /// Removes the card from a reader, which is attached first if necessary.
    public func empty(_ name: String) {
        list.withLock { list in
            list.removeAll { $0.name == name }
            list.append(Reader(name: name, atr: [], card: nil))
        }
    }

    /// Detaches a reader.
    public func detach(_ name: String) { list.withLock { $0.removeAll { $0.name == name } } }

    /// Returns the readers sorted by name.
    public func readers(deadline: Deadline) throws(LinkError) -> [ReaderStatus] {
        list.withLock { list in
            list.sorted { $0.name < $1.name }.map { ReaderStatus(name: $0.name, hasCard: $0.card != nil, atr: $0.atr) }
        }
    }

    /// Connects to a card.
    public func connect(
        reader: String, share: PCSC.Share, deadline: Deadline
    ) throws(LinkError) -> sending any CardLink {
        guard let found = list.withLock({ $0.first { $0.name == reader } }) else { throw .unknownReader(reader) }
        guard let card = found.card else { throw .noCard(reader: reader) }
        return try card()
    }
}
