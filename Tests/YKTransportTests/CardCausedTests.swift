// SPDX-License-Identifier: Apache-2.0

import Testing
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
        #expect(LinkError(causing: CardError.tooLong(during: "x")) == nil)
        #expect(CardError(causing: FIDOLinkError.card(.tooLong(during: "x"))) == .tooLong(during: "x"))
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
        #expect(try await unlessRefused { 7 } == 7)
        for error: any Error in [CardError.tooLong(during: "x"), FIDOLinkError.notTouched, Other()] {
            #expect(try await unlessRefused { () throws -> Int in throw error } == nil)
        }
        for error: any Error in [
            LinkError.removed, CardError.link(.busy(reader: "r", holders: [])), OTPLinkError.device(.reset),
        ] {
            await #expect(throws: (any Error).self) { try await unlessRefused { () throws -> Int in throw error } }
        }
    }
}
