// SPDX-License-Identifier: Apache-2.0

import CThreads
import Glibc

/// A counting semaphore of the operating system.
package final class Semaphore: Sendable {
    nonisolated(unsafe) private let semaphore: UnsafeMutablePointer<sem_t>

    package init() {
        semaphore = .allocate(capacity: 1)
        sem_init(semaphore, 0, 0)
    }

    deinit {
        sem_destroy(semaphore)
        semaphore.deallocate()
    }

    package func post() { sem_post(semaphore) }

    package func wait() { while sem_wait(semaphore) != 0 {} }

    /// Waits for a post; returns `false` on timeout.
    package func wait(milliseconds: Int32) -> Bool { ykit_semaphore_wait(semaphore, milliseconds) == 0 }
}
