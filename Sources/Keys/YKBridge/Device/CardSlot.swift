// SPDX-License-Identifier: Apache-2.0

/// A card in a reader.
struct CardSlot: Sendable {
    /// The state of the connection to the card.
    enum State: Hashable, Sendable {
        /// The card is being identified.
        case opening
        /// The card can be used.
        case ready
        /// The card is not a FIDO card.
        case foreign
        /// The connection failed and is retried at this time.
        case failed(retry: ContinuousClock.Instant)
    }

    /// The number under which the card is known.
    let number: Int
    let reader: String
    var presence: Presence
    var state = State.opening
    var isContactless = false
    /// The number of consecutive failures to connect.
    var failures = 0

    /// The number of attempts after which the card must be inserted again.
    static let patience = 30
}
