// SPDX-License-Identifier: Apache-2.0

import Synchronization
import YKVirtualKey

/// A finger that counts how often it was asked for.
final class Touches: Sendable {
    private let state = Atomic<Int>(0)

    var count: Int { state.load(ordering: .relaxed) }

    func next() -> VirtualInputs.Touch {
        state.add(1, ordering: .relaxed)
        return .touched
    }
}
