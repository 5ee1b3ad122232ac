// SPDX-License-Identifier: Apache-2.0

import Synchronization
import Testing
import YKTestSupport
import YKTransport

@testable import TerminalIO
@testable import Verbs

// The loop decides where threads may run, which is known once for the process.
extension OneProcessorTests {
    /// Tasks and delays of the program run on the thread that waits for them.
    @Suite struct MainLoopTests {
        private final class Notes: Sendable {
            private let all = Mutex<[String]>([])
            var taken: [String] { all.withLock { $0 } }
            func take(_ word: String) { all.withLock { $0.append(word) } }
        }

        /// Runs `body` on a loop of its own, in a thread of its own.
        private func run(
            _ body: @escaping @Sendable (MainLoop) async -> TerminalIO.ExitStatus
        ) async -> TerminalIO.ExitStatus {
            await withCheckedContinuation { continuation in
                let isStarted = SystemThread.start {
                    let loop = MainLoop()
                    continuation.resume(returning: loop.run { await body(loop) })
                }
                #expect(isStarted)
            }
        }

        private func ring(_ loop: MainLoop, after milliseconds: Int, _ body: @escaping @Sendable () -> Void = {}) async
        {
            await withCheckedContinuation { continuation in
                _ = loop.alarm.set(.milliseconds(milliseconds)) {
                    body()
                    continuation.resume()
                }
            }
        }

        @Test func delaysEndInTheirOrder() async {
            let notes = Notes()
            let status = await run { loop in
                _ = loop.alarm.set(.milliseconds(120)) { notes.take("second") }
                _ = loop.alarm.set(.milliseconds(60)) { notes.take("first") }
                let cancel = loop.alarm.set(.milliseconds(90)) { notes.take("cancelled") }
                cancel()
                await ring(loop, after: 180) { notes.take("third") }
                return .failed
            }
            expect(status, is: .failed)
            expect(notes.taken, is: ["first", "second", "third"])
        }

        @Test func aDelayEndsWhileTasksKeepTheLoopBusy() async {
            let isRung = Atomic(false)
            let status = await run { loop in
                _ = loop.alarm.set(.milliseconds(60)) { isRung.store(true, ordering: .releasing) }
                let end = ContinuousClock.now + .seconds(60)
                while !isRung.load(ordering: .acquiring), ContinuousClock.now < end { await Task.yield() }
                return isRung.load(ordering: .acquiring) ? .done : .timeOut
            }
            expect(status, is: .done)
        }

        @Test func aDelayFromAnotherThreadWakesTheLoop() async {
            let status = await run { loop in
                // By now the loop waits without end.
                await ring(loop, after: 150)
                await withCheckedContinuation { continuation in
                    _ = SystemThread.start {
                        _ = loop.alarm.set(.milliseconds(20)) { continuation.resume() }
                    }
                }
                return .done
            }
            expect(status, is: .done)
        }
    }
}
