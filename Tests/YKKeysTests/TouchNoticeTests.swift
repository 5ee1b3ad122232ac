// SPDX-License-Identifier: Apache-2.0

import Synchronization
import Testing
import YKTransport

@testable import YKKeys

/// The end of a wait is told after its beginning, or neither is.
@Suite struct TouchNoticeTests {
    /// An alarm that goes off when a test says so, even if it was cancelled.
    private final class HandAlarm: Sendable {
        private let kept = Mutex<(@Sendable () -> Void)?>(nil)
        let delays = Mutex<[Duration]>([])
        let cancellations = Mutex(0)

        var alarm: Alarm {
            Alarm { delay, body in
                self.delays.withLock { $0.append(delay) }
                self.kept.withLock { $0 = body }
                return { self.cancellations.withLock { $0 += 1 } }
            }
        }

        func ring() { kept.withLock { $0 }?() }
    }

    private final class Words: Sendable {
        private let all = Mutex<[String]>([])
        var said: [String] { all.withLock { $0 } }
        func say(_ word: String) { all.withLock { $0.append(word) } }
    }

    private func notice(_ hand: HandAlarm, _ words: Words) -> TouchNotice {
        TouchNotice(hand.alarm, begin: { words.say("begin") }, end: { words.say("end") })
    }

    @Test func aLongWaitIsToldFromBeginningToEnd() {
        let (hand, words) = (HandAlarm(), Words())
        let notice = notice(hand, words)
        #expect(hand.delays.withLock { $0 } == [TouchReason.delay])
        #expect(!notice.isGiven)
        hand.ring()
        hand.ring()
        #expect(notice.isGiven)
        notice.finish()
        notice.finish()
        #expect(words.said == ["begin", "end"])
        #expect(notice.isGiven)
    }

    @Test func aShortWaitIsNotTold() {
        let (hand, words) = (HandAlarm(), Words())
        let notice = notice(hand, words)
        notice.finish()
        hand.ring()
        #expect(words.said.isEmpty)
        #expect(!notice.isGiven)
        #expect(hand.cancellations.withLock { $0 } == 1)
    }

    @Test func threadsRingOnceUnlessCancelled() {
        let (rung, never) = (Semaphore(), Semaphore())
        let cancel = Alarm.threads.set(.milliseconds(200)) { never.post() }
        cancel()
        _ = Alarm.threads.set(.milliseconds(1)) { rung.post() }
        #expect(rung.wait(milliseconds: 60_000))
        #expect(!never.wait(milliseconds: 400))
        #expect(!rung.wait(milliseconds: 0))
    }
}
