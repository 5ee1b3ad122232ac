// SPDX-License-Identifier: Apache-2.0

import Synchronization
public import YKHardware
public import YKTransport

/// Where readers and cards come from: the smart card service, or links of one's own.
public protocol SmartCardReaders: Sendable {
    /// The readers and what is in them.
    func readers(deadline: Deadline) throws(LinkError) -> [ReaderStatus]
    /// Waits until they are no longer as `known`; at once when they are not.
    func readers(otherThan known: [ReaderStatus], deadline: Deadline) throws(LinkError) -> [ReaderStatus]
    /// Powers the card in a reader and connects to it.
    func connect(
        reader: String, share: PCSC.Share, deadline: Deadline
    ) throws(LinkError) -> sending any CardLink
}

extension SmartCardReaders {
    /// Asks for the readers again and again until there is another reader or card.
    public func readers(otherThan known: [ReaderStatus], deadline: Deadline) throws(LinkError) -> [ReaderStatus] {
        try Pause.until(deadline, "a change of the readers") { () throws(LinkError) in
            let now = try readers(deadline: deadline)
            return now == known ? nil : now
        }
    }
}

/// The readers of the smart card service of this machine (pcscd).
public struct ServiceReaders: SmartCardReaders {
    /// Names the service; nothing is asked before it is needed.
    public init() {}

    /// The readers that the service has.
    public func readers(deadline: Deadline) throws(LinkError) -> [ReaderStatus] {
        try PCSC.readers(timeout: deadline.remaining)
    }

    /// Waits for another reader or card.
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

/// The readers on the USB of this machine, without any service; a card is this program's alone while it is connected.
public struct USBReaders: SmartCardReaders {
    /// Names the readers; nothing is asked before it is needed.
    public init() {}

    /// The readers on the USB. None is asked anything: each is said to have a card in it, as a key always has, and no answer
    /// to reset.
    public func readers(deadline: Deadline) throws(LinkError) -> [ReaderStatus] {
        USB.devices().filter { $0.reader != nil }.map { ReaderStatus(name: Self.name($0), hasCard: true) }
    }

    /// Powers the card in a reader and connects to it, always exclusively.
    public func connect(
        reader: String, share: PCSC.Share, deadline: Deadline
    ) throws(LinkError) -> sending any CardLink {
        guard let device = USB.devices().first(where: { $0.reader != nil && Self.name($0) == reader }) else {
            throw .unknownReader(reader)
        }
        return try USB.connect(device, deadline: deadline)
    }

    /// Two keys of one kind differ in their ports.
    private static func name(_ device: USBDevice) -> String { "\(device.readerName) \(device.usbPath)" }
}

/// Readers that are played: software keys and recordings in place of cards.
public final class PlayedReaders: SmartCardReaders {
    /// Gives a new connection to a card.
    public typealias Card = @Sendable () throws(LinkError) -> sending any CardLink

    private struct Reader {
        let name: String
        var atr: [UInt8]
        var card: Card?
    }

    private let list = Mutex<[Reader]>([])

    /// Begins without readers.
    public init() {}

    /// Puts a card into a reader, which is attached when it is not there yet.
    public func insert(_ name: String, atr: [UInt8], card: @escaping Card) {
        list.withLock { list in
            list.removeAll { $0.name == name }
            list.append(Reader(name: name, atr: atr, card: card))
        }
    }

    /// Takes the card out of a reader, which is attached when it is not there yet.
    public func empty(_ name: String) {
        list.withLock { list in
            list.removeAll { $0.name == name }
            list.append(Reader(name: name, atr: [], card: nil))
        }
    }

    /// Takes a reader away.
    public func detach(_ name: String) { list.withLock { $0.removeAll { $0.name == name } } }

    /// The readers in the order of their names.
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
