// SPDX-License-Identifier: Apache-2.0

import Arguments
import YKPIV
import YKWire

/// Changes the PUK.
struct PIVChangePUK: Verb {
    static let about = About(
        "change-puk", "Change the PUK. A wrong current one uses up a retry.",
        discussion: """
            The PUK sets a new PIN when no retries of the PIN are left; the default PUK is 12345678. When both are read \
            from standard input, the first line is the current PUK, the second the new one.
            """, members: ["changed"])

    @OptionGroup var puk: PUKOptions
    @OptionGroup var new: NewPUKOptions

    func answer(in world: World) async throws -> Answer {
        let service = try await world.openPIV()
        let old = try await world.pivPUK(puk, of: service, for: "change the PUK")
        try await service.changePUK(from: old, to: try new.source.newCode("PUK", world))
        return Answer("the PUK is changed", ["changed": true])
    }
}
