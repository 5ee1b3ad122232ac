// SPDX-License-Identifier: Apache-2.0

package import Glibc

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

    /// Waits in a way of the caller's.
    package func wait<Value>(_ body: (UnsafeMutablePointer<sem_t>) -> Value) -> Value { body(semaphore) }
}
