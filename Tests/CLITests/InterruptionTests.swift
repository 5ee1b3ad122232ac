// SPDX-License-Identifier: Apache-2.0

import Testing
import YKTransport

@testable import TerminalIO
@testable import Verbs

/// When a signal is a second one, and when a program that computes may be ended.
@Suite struct InterruptionTests {
    @Test func signalsThatArriveTogetherAreOne() {
        let first: UInt64 = 5_000_000_000
        #expect(Interruption.isSame(first, as: first))
        #expect(Interruption.isSame(first + 250_000_000, as: first))
        #expect(!Interruption.isSame(first + 300_000_000, as: first))
        #expect(Interruption.isSame(first - 1, as: first))
    }

    @Test func aCancellationIsSeenOnceItIsRead() {
        let cancellation = Cancellation()
        #expect(!cancellation.isCancelled && !cancellation.isSeen)
        cancellation.cancel()
        #expect(!cancellation.isSeen)
        #expect(cancellation.isCancelled && cancellation.isSeen)
    }
}
