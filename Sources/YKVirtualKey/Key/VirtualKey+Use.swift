// SPDX-License-Identifier: Apache-2.0

import Synchronization
import YKTransport

extension VirtualKey {
    /// The name of the reader that the key is in.
    package static let readerName = "ykit virtual YubiKey"

    /// Gives the key to a link until ``release(_:)``, `nil` while another one has it. Answers whether another link
    /// used or reset the key since this one did.
    func hold(_ number: UInt64) throws(LinkError) -> Bool? {
        body.withLock { body in
            guard body.holder == nil else { return nil }
            body.holder = number
            defer { body.lastUser = number }
            return body.lastUser.map { $0 != number } ?? false
        }
    }

    func release(_ number: UInt64) {
        body.withLock { body in
            if body.holder == number { body.holder = nil }
        }
    }

    /// One command APDU and its response; `nil` while the key waits for a touch.
    func exchange(_ command: [UInt8]) throws(LinkError) -> [UInt8]? {
        body.withLock { $0.card.exchange(command, world) }
    }

    func powerOff() { body.withLock { $0.card.powerOff() } }
}
