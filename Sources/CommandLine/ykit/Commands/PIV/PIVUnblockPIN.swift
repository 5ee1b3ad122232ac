// SPDX-License-Identifier: Apache-2.0

import Arguments
import YKPIV
import YKWire

/// Sets a new PIN with the PUK.
struct PIVUnblockPIN: Verb {
    static let about = About(
        "unblock-pin", "Set a new PIN with the PUK. A wrong PUK uses up a retry.",
        discussion: "When both are read from standard input, the first line is the PUK, the second the new PIN.",
        members: ["changed"])

    @OptionGroup var puk: PUKOptions
    @OptionGroup var new: NewPINOptions

    func answer(in world: World) async throws -> Answer {
        let service = try await world.openPIV()
        let puk = try await world.pivPUK(puk, of: service, for: "set a new PIN")
        try await service.unblockPIN(puk: puk, newPIN: try new.source.newCode("PIN", world))
        return Answer("the PIN is set, with all its tries", ["changed": true])
    }
}
