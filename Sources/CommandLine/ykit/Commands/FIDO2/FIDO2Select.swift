// SPDX-License-Identifier: Apache-2.0

import Arguments
import YKFIDO
import YKWire

/// Selects a key by a touch.
struct FIDO2Select: Verb {
    static let about = About(
        "select", "Select a key by touching it.",
        discussion: """
            All keys blink, and the path of the one that is touched is printed:
              ykit --path "$(ykit fido2 select)" fido2 info
            """, members: ["path"])

    func answer(in world: World) async throws -> Answer {
        let path = try await world.touchedKey()
        return Answer(path, ["path": .string(path)])
    }
}
