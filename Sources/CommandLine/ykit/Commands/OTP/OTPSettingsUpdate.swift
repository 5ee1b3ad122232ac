// SPDX-License-Identifier: Apache-2.0

import Arguments
import YKOTP
import YKWire

/// Updates the settings of a slot.
struct OTPSettingsUpdate: Verb {
    static let about = About(
        "settings", "Change a slot's typing settings or access code, and keep its secrets.",
        discussion: "Settings that are not given are set to those of a new slot.", members: ["slot"])

    @OptionGroup var target: OTPProgramming
    @OptionGroup var typing: TypingOptions

    func answer(in world: World) async throws -> Answer {
        let service = try await world.otp()
        let slot = target.slot
        let state = await service.state(of: slot)
        guard state.isProgrammed != false else { throw OTPError.emptySlot(slot) }
        let (_, access) = try target.read(in: world) {}
        if !target.force, world.plan == nil { try Prompt.confirm("write all settings of slot \(slot.rawValue) again?") }
        var settings = typing.settings
        if state.isTouchTriggered == false { settings.ticket = [] }
        try await service.update(slot, settings, access: access)
        return Answer("the settings of slot \(slot.rawValue) are written", ["slot": .int(Int64(slot.rawValue))])
    }
}
