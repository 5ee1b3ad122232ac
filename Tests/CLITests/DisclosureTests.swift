// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import YKInteraction
import YKTestSupport
import YKTransport
import YKWire

@testable import TerminalIO
@testable import Verbs

@Suite struct DisclosureTests {
    /// Returns whether the secret of a change that failed is in its file.
    private func isKept(after error: any Error, isStored: Bool = false) throws -> Bool {
        let file = FileManager.default.temporaryDirectory.appending(path: "ykit-secret-\(UUID().uuidString)").path
        defer { Files.remove(file) }
        let terminal = Terminal(.test(person: NoPerson(), streams: CapturedStreams()))
        let made = try Disclosure("secret", secret("made"), in: file, orElse: "", terminal)
        try Disclosure.keep([made], after: error, isStored: isStored, terminal)
        return Files.isFile(file)
    }

    @Test(
        "a secret is disclosed if the key may have it: it sent no reply, or none that can be read, or nobody touched it in time"
    )
    func unanswered() throws {
        let errors: [any Error] = [
            LinkError.removed, LinkError.timedOut("a reply"), LinkError.cancelled, TouchMissed(),
            CardError.malformed(WireError(.truncated, at: 0, "a reply"), during: "a change"), CardError.link(.removed),
        ]
        for error in errors { #expect(try isKept(after: error), "\(error)") }
        #expect(try isKept(after: Explanation.usage("no"), isStored: true))
    }

    @Test func refused() throws {
        #expect(try !isKept(after: LinkError.busy(reader: "", holders: [])))
        #expect(try !isKept(after: Explanation.usage("no")))
    }
}
