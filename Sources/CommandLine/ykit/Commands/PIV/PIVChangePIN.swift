// SPDX-License-Identifier: Apache-2.0

import Arguments
import YKPIV
import YKWire

/// Changes the PIN.
struct PIVChangePIN: Verb {
    static let about = About(
        "change-pin", "Change the PIN. A wrong current one uses up a retry.",
        discussion: """
            The default PIN is 123456. When both are read from standard input, the first line is the current PIN, the \
            second the new one.
            """, members: ["changed"])

    @OptionGroup var pin: PINOptions
    @OptionGroup var new: NewPINOptions

    func answer(in world: World) async throws -> Answer {
        let service = try await world.openPIV()
        let old = try await world.pivPIN(pin, of: service, for: "change the PIN")
        try await service.changePIN(from: old, to: try new.source.newCode("PIN", world))
        return Answer("the PIN is changed", ["changed": true])
    }
}
