// SPDX-License-Identifier: Apache-2.0

import Glibc
import Synchronization
import YKTransport

@testable import YKHardware

/// Runs what blocks on a thread of its own, in the task of its caller.
actor Blocking {
    private let thread: ServiceThread
    nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

    init() throws { thread = try ServiceThread() }

    func run<Value: Sendable>(_ body: @Sendable () throws -> Value) throws -> Value { try body() }
}

/// Throws a switch a little later, from another thread, and tells how long ago that was.
final class Canceller: Sendable {
    private let thrown = Mutex<ContinuousClock.Instant?>(nil)

    init(_ cancellation: Cancellation, after microseconds: UInt32) {
        _ = SystemThread.start { [self] in
            usleep(microseconds)
            thrown.withLock { $0 = .now }
            cancellation.cancel()
        }
    }

    func elapsed() -> Duration { thrown.withLock { $0 }.map { $0.duration(to: .now) } ?? .seconds(1000) }
}
