// SPDX-License-Identifier: Apache-2.0

import YKTransport

/// A card that lies in a reader.
struct CardSlot: Sendable {
    /// The state of the connection to the card.
    enum State: Hashable, Sendable {
        /// The card is being asked what it is.
        case opening
        /// The card can be used.
        case ready
        /// The card is no FIDO card.
        case foreign
        /// The connection failed; it is tried again at this time.
        case failed(retry: ContinuousClock.Instant)
    }

    /// The number under which the card is known.
    let number: Int
    let reader: String
    var presence: Presence
    var state = State.opening
    var isContactless = false
    /// How often opening failed in a row.
    var failures = 0

    /// How often opening is tried before the card has to be put in again.
    static let patience = 30
}
