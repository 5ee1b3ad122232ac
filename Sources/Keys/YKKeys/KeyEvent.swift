// SPDX-License-Identifier: Apache-2.0

import YKHardware
public import YKTransport

/// A change of a key, see ``KeyRing/watch()-swift.method``.
public enum KeyEvent: Sendable {
    /// A key was attached. Its details have not been read.
    case arrived(Key)
    /// A key changed: an interface was added or removed, or its permissions or the card in a reader changed.
    case changed(Key)
    /// A key was removed.
    case left(Key)
    /// All keys that were attached at the start have been reported.
    case enumerated
    /// The smart card service is currently unavailable; keys that do not need it are still reported.
    case interrupted(LinkError)

    init(_ event: HardwareEvent, in keys: KeyRing) {
        self =
            switch event {
            case .arrived(let key): .arrived(Key(AttachedKey(key), in: keys))
            case .changed(let key): .changed(Key(AttachedKey(key), in: keys))
            case .left(let key): .left(Key(AttachedKey(key), in: keys))
            case .enumerated: .enumerated
            case .interrupted(let why): .interrupted(why)
            }
    }
}
