// SPDX-License-Identifier: Apache-2.0

import Synchronization
package import YKHardware
package import YKTransport
import YKWire

extension KeySelection {
    /// The selected device: the only one, or the one with the selected serial number.
    ///
    /// `describe` may have to query a key, so it is called only when there are several, or a serial number is selected.
    ///
    /// Throws `none`, `notFound` or `several`.
    func one<Device>(
        of all: [Device], over interface: KeyInterface, _ describe: (Device) -> KeyCandidate
    ) throws(KeyError) -> Device {
        if serial == nil, all.count == 1, let only = all.first { return only }
        let described = all.map { (device: $0, candidate: describe($0)) }
        let wanted = described.filter { serial == nil || $0.candidate.serial == serial }
        if let only = wanted.first, wanted.count == 1 { return only.device }
        guard wanted.isEmpty else { throw .several(interface, wanted.map(\.candidate)) }
        guard let serial, !described.isEmpty else { throw .none(interface, .complete) }
        throw .notFound(serial: serial, interface, described.map(\.candidate))
    }

    /// The selected readers that contain a card: the one with exactly the selected name, otherwise all whose name
    /// contains it, ignoring case; without a name, all of them.
    ///
    /// Throws `noReader`, `unknownReader` or `noCard`.
    package func filled(_ readers: [ReaderStatus]) throws(LinkError) -> [ReaderStatus] {
        guard let first = readers.first else { throw .noReader }
        var found = readers
        if let reader {
            let exact = readers.filter { $0.name == reader }
            found = exact.isEmpty ? readers.filter { isReader(named: $0.name) } : exact
            guard let first = found.first else { throw .unknownReader(reader) }
            if !found.contains(where: \.hasCard) { throw .noCard(reader: first.name) }
        }
        let filled = found.filter(\.hasCard)
        if filled.isEmpty { throw .noCard(reader: first.name) }
        return filled
    }

    /// Whether a card is in a selected reader; throws when there is no such reader.
    package func hasCard(in readers: [ReaderStatus]) throws(LinkError) -> Bool {
        do { return try !filled(readers).isEmpty } catch .noCard { return false }
    }

    /// Whether the selected reader's name, if any, is this one or a part of it, ignoring case.
    func isReader(named name: String) -> Bool {
        reader.map { name.mentions($0) } ?? true
    }
}

/// The key chosen among several, by the selection that they all match.
final class KeyChoices: Sendable {
    private let chosen = Mutex<[KeySelection: KeySelection]>([:])

    /// The narrower selection that only the chosen key matches.
    subscript(_ selection: KeySelection) -> KeySelection? {
        get { chosen.withLock { $0[selection] } }
        set { chosen.withLock { $0[selection] = newValue } }
    }
}

extension KeyRing {
    /// The selection, narrowed to the key that was chosen for it, if one was.
    var target: KeySelection { choices[selection] ?? selection }

    /// Remembers which of several matching keys was chosen, for each interface of that key: everything opened for this
    /// selection from now on, also through copies, is opened on that key.
    package func choose(_ candidate: KeyCandidate) {
        guard candidate.interface == .reader || candidate.interface == .any else {
            return choose(path: candidate.location)
        }
        let found = (try? devices(asking: true).keys)?.first { $0.reader?.name == candidate.location }
        guard candidate.interface == .reader || found != nil else { return choose(path: candidate.location) }
        guard case .usb(let port)? = found?.place else { return choose(reader: candidate.location) }
        choose(path: port)
    }

    /// Remembers the key at a USB port or a node.
    package func choose(path: String) {
        choices[selection] = KeySelection(path: path, transport: selection.transport)
    }

    /// Remembers the card in a reader of the smart card service; other interfaces of its key are not searched for.
    package func choose(reader: String) {
        choices[selection] = KeySelection(reader: reader, transport: selection.transport)
    }
}

extension Key {
    /// Remembers which of several keys this one stands for.
    package func choose(_ candidate: KeyCandidate) { keys.choose(candidate) }
}

/// Which key to use, and over which transport. An empty selection means the only attached key.
public struct KeySelection: Sendable, Hashable {
    /// A preference for a transport.
    public enum Transport: String, Sendable, Hashable, CaseIterable {
        /// The best transport for the application.
        case auto
        /// A smart card, through the smart card service (pcscd).
        case pcsc
        /// A smart card on USB, without the smart card service.
        case usb
        /// HID reports.
        case hid
    }

    /// The serial number.
    public let serial: String?
    /// The name of a reader of the smart card service, or a part of it in any letter case.
    public let reader: String?
    /// The USB port of a key, such as `1-2`, or one of its nodes, such as `/dev/hidraw3`.
    public let path: String?
    /// The transport.
    public let transport: Transport

    /// Creates a selection.
    public init(
        serial: String? = nil, reader: String? = nil, path: String? = nil, transport: Transport = .auto
    ) {
        self.serial = serial
        self.reader = reader
        self.path = path
        self.transport = transport
    }

    /// Returns the same selection with another serial number.
    public func with(serial: String) -> KeySelection {
        KeySelection(serial: serial, reader: reader, path: path, transport: transport)
    }

    /// Returns the same selection over another transport.
    public func over(_ transport: Transport) -> KeySelection {
        KeySelection(serial: serial, reader: reader, path: path, transport: transport)
    }
}

extension KeySelection: CustomStringConvertible {
    /// The selection in words, such as `the key with serial number 5417533`.
    public var description: String {
        if let serial { return "the key with serial number \(serial)" }
        if let reader { return "the key in reader \(reader)" }
        if let path { return "the key at \(path)" }
        return "the only key"
    }
}
