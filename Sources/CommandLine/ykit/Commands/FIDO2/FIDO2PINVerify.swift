// SPDX-License-Identifier: Apache-2.0

import Arguments
import YKFIDO
import YKWire

/// Checks the PIN and does nothing else.
struct FIDO2PINVerify: Verb {
    static let about = About(
        "verify", "Verify the PIN. A wrong one uses up a retry, the right one restores all.", members: ["verified"])

    @OptionGroup var pin: PINOptions

    func answer(in world: World) async throws -> Answer {
        let service = try await world.openFIDO()
        let info = try await service.info()
        guard info.hasPIN else { throw info.takesPIN ? FIDOError.pinNotSet : .unsupported("clientPin") }
        try await service.verifyPIN(try await world.pin(pin, of: service, for: "check the PIN"))
        return Answer("the PIN is right", ["verified": true])
    }
}
