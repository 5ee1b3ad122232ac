// SPDX-License-Identifier: Apache-2.0

import Arguments
import YKFIDO
import YKWire

/// Turns "always require user verification" on or off.
struct FIDO2ConfigAlwaysUV: Verb {
    static let about = About(
        "always-uv", "Turn 'always verify the user' on or off.",
        discussion: "While it is on, U2F does not work on most keys.", members: ["alwaysUv", "changed"])

    /// On or off.
    enum Switch: String, CaseIterable, ExpressibleByArgument {
        case on, off
    }

    @Argument(help: "on or off.") var state: Switch

    @OptionGroup var pin: PINOptions

    func answer(in world: World) async throws -> Answer {
        let service = try await world.openConfig(pin, for: "change how it behaves")
        guard let now = try await service.info().option(.alwaysUv) else { throw FIDOError.unsupported("alwaysUv") }
        let isChange = now != (state == .on)
        if isChange { try await service.configure(.toggleAlwaysUV) }
        return Answer(
            "the key verifies its user \(state == .on ? "always" : "when it is asked to")\(isChange ? "" : " already")",
            ["alwaysUv": .bool(state == .on), "changed": .bool(isChange)])
    }
}
