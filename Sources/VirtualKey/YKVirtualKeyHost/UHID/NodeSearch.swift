// SPDX-License-Identifier: Apache-2.0

import YKVirtualKey

/// Looks for a device's node from the moment that it exists, for a while.
struct NodeSearch {
    private let place: String
    private let patience: Int
    private var left = 0
    private var isStarted = false

    /// Looks for what is plugged in at a place, so many times at most.
    init(place: String, patience: Int = 6000) {
        self.place = place
        self.patience = patience
    }

    /// How long to wait before the next look.
    var pause: Duration { left > 0 ? .milliseconds(10) : .milliseconds(50) }

    /// Starts to look, once.
    mutating func start() {
        if !isStarted { left = patience }
        isStarted = true
    }

    /// The node once it is there, an empty text when the time is over, `nil` before and after that.
    mutating func next() -> String? {
        guard left > 0 else { return nil }
        left -= 1
        guard let node = HIDNode.of(place: place) else { return left == 0 ? "" : nil }
        left = 0
        return node
    }
}
