// SPDX-License-Identifier: Apache-2.0

import Synchronization
import Testing
import YKTestSupport
import YKTransport
import YKWire

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
        expect(hand.delays.withLock { $0 }, is: [TouchReason.delay])
        #expect(!notice.isGiven)
        hand.ring()
        hand.ring()
        #expect(notice.isGiven)
        notice.finish()
        notice.finish()
        expect(words.said, is: ["begin", "end"])
        #expect(notice.isGiven)
    }

    @Test func aShortWaitIsNotTold() {
        let (hand, words) = (HandAlarm(), Words())
        let notice = notice(hand, words)
        notice.finish()
        hand.ring()
        #expect(words.said.isEmpty)
        #expect(!notice.isGiven)
        expect(hand.cancellations.withLock { $0 }, is: 1)
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

    /// A key that refuses U2F commands until it has been touched.
    private final class Untouched: FIDOLink {
        let environment = ServiceEnvironment()
        let profile: FIDOLinkProfile
        let generation = 0
        private var isTouched = false

        init(_ carrier: FIDOLinkProfile.Carrier) {
            profile = FIDOLinkProfile(carrier: carrier, hasCTAP2: false, hasU2F: true)
        }

        func touch() { isTouched = true }

        func call(
            _ command: CTAPHID.Command, _ payload: [UInt8], deadline: Deadline, keepalive: (FIDOKeepalive) -> Void
        ) throws(FIDOLinkError) -> [UInt8] {
            ResponseAPDU(isTouched ? .ok : .conditionsNotSatisfied, data: isTouched ? [1] : []).encoded
        }

        func rest() {}
        func close() {}
    }

    @Test("a U2F key that refuses until it is touched", arguments: [FIDOLinkProfile.Carrier.hid, .card])
    func aRefusalThatLastsIsTold(_ carrier: FIDOLinkProfile.Carrier) throws {
        let words = Words()
        let key = Untouched(carrier)
        let link = PromptingLink(key, HandAlarm().alarm, { words.say("\($0)") }, end: { words.say("end") })
        func ask(_ command: [UInt8]) throws {
            _ = try link.call(.msg, command, deadline: .after(.seconds(60))) { _ in }
        }
        let register: [UInt8] = [0, 1, 0, 0, 0, 0, 64] + [UInt8](repeating: 7, count: 64)
        let check: [UInt8] = [0, 2, 7, 0, 0, 0, 66] + [UInt8](repeating: 1, count: 66)
        try ask(check)
        try ask(register)
        #expect(words.said.isEmpty)
        Pause.system(TouchReason.delay + .milliseconds(10), .after(.seconds(60)))
        try ask(register)
        try ask(register)
        expect(words.said, is: [carrier == .card ? "placement" : "touch"])
        key.touch()
        try ask(register)
        link.close()
        #expect(words.said.last == "end" && words.said.count == 2)
    }
}
