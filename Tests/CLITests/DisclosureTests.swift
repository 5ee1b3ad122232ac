// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import YKInteraction
import YKTestSupport
import YKTransport

@testable import TerminalIO
@testable import Verbs

@Suite struct DisclosureTests {
    /// Returns whether the secret of a change that failed is in its file.
    private func isKept(after error: any Error) throws -> Bool {
        let file = FileManager.default.temporaryDirectory.appending(path: "ykit-secret-\(UUID().uuidString)").path
        defer { Files.remove(file) }
        let terminal = Terminal(.test(person: NoPerson(), streams: CapturedStreams()))
        let made = try Disclosure("secret", secret("made"), in: file, orElse: "", terminal)
        try Disclosure.keep([made], after: error, terminal)
        return Files.isFile(file)
    }

    @Test("a secret is disclosed if the key may have it: it sent no reply, or nobody touched it in time")
    func unanswered() throws {
        for error: any Error in [LinkError.removed, LinkError.timedOut("a reply"), LinkError.cancelled, TouchMissed()] {
            #expect(try isKept(after: error), "\(error)")
        }
    }

    @Test func refused() throws {
        #expect(try !isKept(after: LinkError.busy(reader: "", holders: [])))
        #expect(try !isKept(after: Explanation.usage("no")))
    }
}
