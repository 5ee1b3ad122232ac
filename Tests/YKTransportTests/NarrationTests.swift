// SPDX-License-Identifier: Apache-2.0

import Testing
import YKTransport
import YKWire

@Suite struct NarrationTests {
    @Test(arguments: Recordings.all)
    func everyEventIsExplained(name: String) throws {
        var narrator = Narrator()
        for event in try Recordings.capture(name).events {
            let narration = narrator.narrate(event)
            #expect(!narration.summary.isEmpty)
            let isMeantToBeUnknown =
                narration.summary.contains("instruction ff") || narration.summary.contains("deadbeef")
            #expect(narration.isKnown || isMeantToBeUnknown, "line \(event.line): \(narration.summary)")
        }
    }
}
