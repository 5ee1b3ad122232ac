// SPDX-License-Identifier: Apache-2.0

import CPCSC
import Glibc

/// A counting semaphore of the operating system.
final class Semaphore: @unchecked Sendable {
    private let semaphore: UnsafeMutablePointer<sem_t>

    init() {
        semaphore = .allocate(capacity: 1)
        sem_init(semaphore, 0, 0)
    }

    deinit {
        sem_destroy(semaphore)
        semaphore.deallocate()
    }

    func post() { sem_post(semaphore) }

    func wait() { while sem_wait(semaphore) != 0 {} }

    /// Waits for a post; false when there was none in time.
    func wait(milliseconds: Int32) -> Bool { ykit_semaphore_wait(semaphore, milliseconds) == 0 }
}

/// Starts a thread that runs `body` and ends; false when the system has no thread to give.
func startThread(_ body: @escaping @Sendable () -> Void) -> Bool {
    final class Start: Sendable {
        let body: @Sendable () -> Void
        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }
    let start = Unmanaged.passRetained(Start(body))
    var thread = pthread_t()
    let failure = pthread_create(
        &thread, nil,
        { start in
            guard let start else { return nil }
            Unmanaged<Start>.fromOpaque(start).takeRetainedValue().body()
            return nil
        }, start.toOpaque())
    guard failure == 0 else {
        start.release()
        return false
    }
    pthread_detach(thread)
    return true
}
