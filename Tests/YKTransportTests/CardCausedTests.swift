// SPDX-License-Identifier: Apache-2.0

import Testing
import YKTestSupport
import YKTransport

struct CardCausedTests {
    private struct Other: Error {}

    @Test func findsTheLink() {
        let causes: [any Error] = [
            LinkError.reset, CardError.link(.reset), FIDOLinkError.card(.link(.reset)), FIDOLinkError.device(.reset),
            OTPLinkError.card(.link(.reset)), OTPLinkError.device(.reset),
        ]
        for error in causes {
            #expect(LinkError(causing: error) == .reset && CardError(causing: error) == .link(.reset), "\(error)")
        }
        for error: any Error in [Other(), FIDOLinkError.notTouched, OTPLinkError.notTouched] {
            #expect(LinkError(causing: error) == nil && CardError(causing: error) == nil, "\(error)")
        }
        expect(LinkError(causing: CardError.tooLong(during: "x")), is: nil)
        expect(CardError(causing: FIDOLinkError.card(.tooLong(during: "x"))), is: .tooLong(during: "x"))
    }

    @Test func isTransient() {
        for error: LinkError in [.busy(reader: "r", holders: []), .reset, .unresponsive("x")] {
            #expect(error.isTransient)
        }
        for error: LinkError in [.removed, .closed, .cancelled, .timedOut("x"), .noReader] {
            #expect(!error.isTransient)
        }
    }

    @Test func aRefusalIsAnAnswerAndAFailedLinkIsNone() async throws {
        try await expect(unlessRefused { 7 }, is: 7)
        for error: any Error in [CardError.tooLong(during: "x"), FIDOLinkError.notTouched, Other()] {
            try await expect(unlessRefused { () throws -> Int in throw error }, is: nil)
        }
        for error: any Error in [
            LinkError.removed, CardError.link(.busy(reader: "r", holders: [])), OTPLinkError.device(.reset),
        ] {
            await #expect(throws: (any Error).self) { try await unlessRefused { () throws -> Int in throw error } }
        }
    }
}
