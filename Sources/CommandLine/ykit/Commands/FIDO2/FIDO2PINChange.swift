// SPDX-License-Identifier: Apache-2.0

import Arguments
import YKFIDO
import YKWire

/// Changes the PIN.
struct FIDO2PINChange: Verb {
    static let about = About(
        "change", "Change the PIN. A wrong current one uses up a retry.",
        discussion:
            "When both are read from standard input, the first line is the current PIN, the second the new one.",
        members: ["hasPin"])

    @OptionGroup var pin: PINOptions
    @OptionGroup var new: NewPINOptions

    func answer(in world: World) async throws -> Answer {
        let service = try await world.openFIDO()
        let info = try await service.info()
        guard info.hasPIN else { throw info.takesPIN ? FIDOError.pinNotSet : .unsupported("clientPin") }
        let old = try await world.pin(pin, of: service, for: "change the PIN")
        let pin = try new.read(info, world)
        try await service.changePIN(from: old, to: pin)
        return Answer("the PIN is changed", ["hasPin": true])
    }
}
