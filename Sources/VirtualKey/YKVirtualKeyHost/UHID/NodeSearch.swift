// SPDX-License-Identifier: Apache-2.0

import YKVirtualKey

/// Searches for a new device's node for a limited time.
struct NodeSearch {
    private let place: String
    private let patience: Int
    private var left = 0
    private var isStarted = false

    /// Creates a search for the device at a location with at most this many attempts.
    init(place: String, patience: Int = 6000) {
        self.place = place
        self.patience = patience
    }

    /// How long to wait before the next attempt; `nil` if there is none.
    var pause: Duration? { left > 0 ? .milliseconds(10) : nil }

    /// Starts the search, once.
    mutating func start() {
        if !isStarted { left = patience }
        isStarted = true
    }

    /// Returns the node once found, an empty string when the attempts are used up, and `nil` before and after that.
    mutating func next() -> String? {
        guard left > 0 else { return nil }
        left -= 1
        guard let node = HIDNode.of(place: place) else { return left == 0 ? "" : nil }
        left = 0
        return node
    }
}
