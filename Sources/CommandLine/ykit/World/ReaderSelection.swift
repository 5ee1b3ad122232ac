// SPDX-License-Identifier: Apache-2.0

import YKHardware
import YKTransport

/// Which of the attached readers is meant.
enum ReaderSelection {
    /// The readers that a name means: the exact one, else all that contain it in any letter case; without a name, those
    /// with a card.
    static func candidates(_ readers: [ReaderStatus], named wanted: String?) throws(LinkError) -> [ReaderStatus] {
        guard let first = readers.first else { throw .noReader }
        var found = readers
        if let wanted {
            let exact = readers.filter { $0.name == wanted }
            found = exact.isEmpty ? readers.filter { $0.name.mentions(wanted) } : exact
            guard let reader = found.first else { throw .unknownReader(wanted) }
            if !found.contains(where: \.hasCard) { throw .noCard(reader: reader.name) }
        }
        let filled = found.filter(\.hasCard)
        if filled.isEmpty { throw .noCard(reader: first.name) }
        return filled
    }
}
