// SPDX-License-Identifier: Apache-2.0

import Arguments
import YKFIDO
import YKWire

/// Makes the key refuse simple PINs.
struct FIDO2ConfigComplexPIN: Verb {
    static let about = About(
        "complex-pin", "Make the key refuse simple PINs. Only a reset undoes it.", members: ["pinComplexityPolicy"])

    @OptionGroup var pin: PINOptions

    func answer(in world: World) async throws -> Answer {
        let service = try await world.openConfig(pin, for: "change its rules for PINs")
        guard try await service.info().hasPINComplexityPolicy != nil else {
            throw FIDOError.unsupported("pinComplexityPolicy")
        }
        var rules = AuthenticatorConfig.PINRules()
        rules.requiresComplexity = true
        try await service.configure(.pinRules(rules))
        return Answer("simple PINs are refused from now on", ["pinComplexityPolicy": true])
    }
}
