// SPDX-License-Identifier: Apache-2.0

import Testing
import YKTestSupport
import YKUse

/// How long a far end keeps other programs from a card without a use that its user agreed to.
struct CardHoldTests {
    private let start = ContinuousClock.now
    private func at(_ seconds: Double) -> ContinuousClock.Instant { start.advanced(by: .seconds(seconds)) }

    @Test("ten seconds, whatever the far end sends; then the card is free for a moment")
    func unasked() {
        var hold = CardHold(longest: .seconds(10))
        expect(hold.begin(at: start)?.time, is: .seconds(10))
        for second in 1..<10 {
            #expect(hold.begin(at: at(Double(second))) == nil && !hold.isOver(at: at(Double(second))))
        }
        #expect(hold.isStill(1) && hold.isOver(at: at(10)))
        hold.end(at: at(10))
        #expect(!hold.isStill(1) && !hold.isOver(at: at(20)))
        #expect(hold.pause(at: at(10.25)) == .milliseconds(50) && hold.pause(at: at(10.5)) == nil)
        expect(hold.begin(at: at(11))?.number, is: 2)
        // A short session costs no pause.
        hold.end(at: at(12))
        expect(hold.pause(at: at(12)), is: nil)
    }

    @Test("after a use that was agreed to, until the session ends")
    func agreed() {
        var hold = CardHold(longest: .seconds(10))
        _ = hold.begin(at: start)
        hold.agree()
        #expect(!hold.isOver(at: at(1000)) && !hold.isStill(1))
        hold.end(at: at(1000))
        expect(hold.begin(at: at(1001))?.time, is: .seconds(10))
    }
}
