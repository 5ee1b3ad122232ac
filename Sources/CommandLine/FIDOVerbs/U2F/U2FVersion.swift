// SPDX-License-Identifier: Apache-2.0

import Arguments
import Verbs
import YKFIDO
import YKWire

/// Shows the U2F version.
struct U2FVersion: Verb {
    static let about = About("version", "Ask the key for its version of U2F.", members: ["u2fVersion"])

    func answer(in world: World) async throws -> Answer {
        let version = try await world.openU2F().u2fVersion()
        return Answer(version.printable, ["u2fVersion": .string(version)])
    }
}
