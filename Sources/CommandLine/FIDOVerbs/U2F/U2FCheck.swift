// SPDX-License-Identifier: Apache-2.0

import Arguments
import Verbs
import YKFIDO
import YKWire

/// Checks whether a key handle belongs to this key.
struct U2FCheck: Verb {
    static let about = About(
        "check", "Ask whether a key handle is of this key. Nothing is signed, nobody touches.",
        discussion: "The exit code is 12 when it is not.", members: ["app", "keyHandle", "known"])

    @Argument("key-handle", isBase64URL: true, help: "The key handle, base64url.") var keyHandle: String

    @OptionGroup var application: U2FOptions

    func answer(in world: World) async throws -> Answer {
        let handle = try BytesArgument.hexOrBase64(keyHandle, "KEY-HANDLE")
        let service = try await world.openU2F()
        let isKnown = try await service.u2fKnows(keyHandle: handle, applicationHash: application.applicationHash)
        var answer = Answer(
            isKnown ? ["the key handle is of this key"] : [],
            [
                "app": .string(application.application), "keyHandle": .string(Base64.encodeURL(handle)),
                "known": .bool(isKnown),
            ])
        if !isKnown {
            answer.failure = U2FHandle.foreign
        }
        return answer
    }
}
