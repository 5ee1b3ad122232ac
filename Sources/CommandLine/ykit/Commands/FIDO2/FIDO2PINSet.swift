// SPDX-License-Identifier: Apache-2.0

import Arguments
import YKFIDO
import YKWire

/// Sets the first PIN.
struct FIDO2PINSet: Verb {
    static let about = About(
        "set", "Set the first PIN.",
        discussion: "A PIN can be changed, but only a reset of the key removes it.", members: ["hasPin"])

    @OptionGroup var new: NewPINOptions

    func answer(in world: World) async throws -> Answer {
        let service = try await world.openFIDO()
        let info = try await service.info()
        guard info.takesPIN else { throw FIDOError.unsupported("clientPin") }
        guard !info.hasPIN else { throw FIDOError.pinAlreadySet }
        let pin = try new.read(info, world)
        try await service.setPIN(pin)
        return Answer("the PIN is set", ["hasPin": true])
    }
}
