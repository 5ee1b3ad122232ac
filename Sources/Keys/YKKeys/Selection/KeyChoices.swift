// SPDX-License-Identifier: Apache-2.0

import Synchronization
import YKHardware
import YKTransport

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
