// SPDX-License-Identifier: Apache-2.0

/// How fast the requests of a far end are processed: so many at once, then one after each pause.
struct Pace {
    private let burst: Int
    private let pause: Duration
    /// How many may come without a pause, and when one was last counted.
    private var left: Int
    private var counted = ContinuousClock.now

    init(burst: Int, pause: Duration) { (self.burst, self.pause, left) = (burst, pause, burst) }

    /// Counts a request; returns how long it has to wait.
    mutating func count() -> Duration? {
        let steps = Int(counted.duration(to: .now) / pause)
        if steps > 0 { (left, counted) = (min(burst, left + steps), .now) }
        left -= 1
        return left < 0 ? pause : nil
    }
}
