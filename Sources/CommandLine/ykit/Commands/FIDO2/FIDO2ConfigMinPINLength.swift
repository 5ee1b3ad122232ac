// SPDX-License-Identifier: Apache-2.0

import Arguments
import YKFIDO
import YKWire

/// Sets the minimum PIN length.
struct FIDO2ConfigMinPINLength: Verb {
    static let about = About(
        "min-pin-length",
        "Set the minimum PIN length. It can only be raised; a reset restores the default.",
        discussion: "A shorter PIN must be changed before the key does anything else.",
        members: ["minPINLength", "rpIds"])

    @Argument(help: ArgumentHelp("Characters, 4 to 63.", valueName: "n")) var length: Int

    @Option(help: ArgumentHelp("Tell this relying party the length; may be repeated.", valueName: "id"))
    var rp: [String] = []

    @OptionGroup var pin: PINOptions

    func check() throws {
        if !(4...63).contains(length) { throw UsageError("a PIN has 4 to 63 characters") }
    }

    func answer(in world: World) async throws -> Answer {
        let service = try await world.openConfig(pin, for: "change its rules for PINs")
        let info = try await service.info()
        guard UInt64(length) >= info.minPINLength else {
            throw Explanation(
                "only-grows", .policy, "the key wants \(info.minPINLength) characters already, which can only be raised"
            )
        }
        if let most = info.maxRPIDsForMinPINLength, rp.count > Int(clamping: most) {
            throw Explanation("too-many", .notSupported, "the key tells at most \(most) relying parties")
        }
        var rules = AuthenticatorConfig.PINRules()
        rules.minLength = UInt64(length)
        rules.rpIDs = rp
        try await service.configure(.pinRules(rules))
        return Answer(
            "a PIN has at least \(length) characters now",
            ["minPINLength": .int(Int64(length)), "rpIds": .array(rp.map(JSON.string))])
    }
}
