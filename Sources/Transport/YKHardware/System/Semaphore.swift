// SPDX-License-Identifier: Apache-2.0

import CPCSC
import YKTransport

extension Semaphore {
    /// Waits for a post; returns `false` on timeout.
    func wait(milliseconds: Int32) -> Bool { wait { ykit_semaphore_wait($0, milliseconds) } == 0 }
}
