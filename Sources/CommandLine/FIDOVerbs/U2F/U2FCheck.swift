// SPDX-License-Identifier: Apache-2.0

import Applications
import Arguments
import TerminalIO
import Verbs
import YKFIDO
import YKWire

/// Checks whether a key handle belongs to this key.
struct U2FCheck: Verb {
    static let about = About(
        "check", "Check whether a key handle belongs to this key. Nothing is signed; no touch is needed.",
        discussion: "The exit code is 12 if it does not.",
        examples: [Example("ykit u2f check \"$(cat handle.txt)\" --app https://example.com")])
    static let answer = Shape(
        Item<String>("app"), Item<[UInt8]>("keyHandle") { Base64.encodeURL($0) }, Item<Bool>("known"))

    @Argument("key-handle", isBase64URL: true, help: "The key handle, base64url.") var keyHandle: String

    @OptionGroup var application: U2FOptions

    func run(in run: Run) async throws -> Outcome<(String, [UInt8], Bool)> {
        let handle = try BytesArgument.hexOrBase64(keyHandle, "KEY-HANDLE")
        let service = try await run.openU2F()
        let isKnown = try await service.u2fKnows(keyHandle: handle, applicationHash: application.applicationHash)
        var outcome = Outcome(
            (application.application, handle, isKnown), isKnown ? ["the key handle belongs to this key"] : [])
        if !isKnown { outcome.answer.failure = U2FHandle.foreign }
        return outcome
    }
}
