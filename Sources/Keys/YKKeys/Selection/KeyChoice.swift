// SPDX-License-Identifier: Apache-2.0

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
