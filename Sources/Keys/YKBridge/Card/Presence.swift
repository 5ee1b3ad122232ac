// SPDX-License-Identifier: Apache-2.0

/// Proof of user presence: a card was laid on a contactless reader, which counts for one ceremony and for a limited
/// time (CTAP 2.2 §11.3.1).
struct Presence: Hashable, Sendable {
    /// When the card was laid down; `nil` if that was not seen.
    let laidDown: ContinuousClock.Instant?
    private(set) var isUsed = false

    /// Whether it is still valid.
    func isAvailable(at now: ContinuousClock.Instant, within limit: Duration) -> Bool {
        guard let laidDown, !isUsed else { return false }
        return laidDown.duration(to: now) <= limit
    }

    /// Uses it up.
    mutating func use() { isUsed = true }
}
