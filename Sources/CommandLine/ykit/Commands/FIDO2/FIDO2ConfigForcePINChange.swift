// SPDX-License-Identifier: Apache-2.0

import Arguments
import YKFIDO
import YKWire

/// Requires a PIN change before the key does anything else.
struct FIDO2ConfigForcePINChange: Verb {
    static let about = About(
        "force-pin-change", "Require a PIN change before the key does anything else.", members: ["forcePINChange"])

    @OptionGroup var pin: PINOptions

    func answer(in world: World) async throws -> Answer {
        let service = try await world.openConfig(pin, for: "change its rules for PINs")
        guard try await service.info().hasPIN else { throw FIDOError.pinNotSet }
        var rules = AuthenticatorConfig.PINRules()
        rules.forcesChange = true
        try await service.configure(.pinRules(rules))
        return Answer("the PIN has to be changed now: ykit fido2 pin change", ["forcePINChange": true])
    }
}
