// SPDX-License-Identifier: Apache-2.0

import TerminalIO
import Testing
import YKApproval
import YKTestSupport

@testable import ApprovalVerbs

struct TiQRTests {
    @Test("what a TiQR service answers") func tiqr() {
        let results: [(TiQRResult, TerminalIO.ExitStatus, String)] = [
            (.wrong(triesLeft: 1), .authentication, "one try is left"),
            (.wrong(triesLeft: nil), .authentication, "refused"),
            (.unknownChallenge, .timeOut, "start the login again"), (.unknownIdentity, .notFound, "enroll again"),
            (.blocked(for: .seconds(600)), .blocked, "for 10 minutes"),
            (.blocked(for: nil), .blocked, "locked the account"),
            (.other("x\u{1B}"), .failed, "answered x"),
        ]
        expect(TiQRResult.accepted.refusal, is: nil)
        for (result, exit, part) in results {
            let explanation = result.refusal
            expect(explanation?.exit, is: exit)
            #expect(
                explanation.map { "\($0.message) \($0.hint ?? "")".contains(part) && !$0.message.contains("\u{1B}") }
                    == true)
        }
    }
}
