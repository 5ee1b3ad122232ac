// SPDX-License-Identifier: Apache-2.0

import Arguments
import YKOTP
import YKTransport
import YKWire

/// Shows the state of the slots.
struct OTPInfo: Verb {
    static let about = About(
        "info", "Show which slots are in use, and what they do.",
        members: ["version", "serial", "link", "slots", "lightInverted", "fipsMode"])

    func answer(in world: World) async throws -> Answer {
        let service = try await world.otp()
        let version = await service.version
        let serial = try? await service.serial()
        let isFIPS = version.major == 4 ? try? await service.isInFIPSMode() : nil
        let status = await service.status
        var slots: [(OTPSlot, OTPSlotState)] = []
        for slot in OTPSlot.allCases { slots.append((slot, await service.state(of: slot))) }
        var lines = slots.map { "slot \($0.0.rawValue): \($0.1.words)" }
        if status.isLightInverted { lines.append("the light is off at rest") }
        if let isFIPS { lines.append("FIPS approved mode: \(isFIPS ? "yes" : "no")") }
        return Answer(
            lines,
            [
                "version": .string(version.description), "serial": serial.map { .int(Int64($0)) } ?? .null,
                "link": .string(await service.carrier.rawValue),
                "slots": .array(slots.map { $0.1.json($0.0) }), "lightInverted": .bool(status.isLightInverted),
                "fipsMode": isFIPS.map(JSON.bool) ?? .null,
            ])
    }
}

extension OTPSlotState {
    fileprivate var words: String {
        switch (isProgrammed, isTouchTriggered) {
        case (false, _): "empty"
        case (nil, _): "not known, the firmware does not tell"
        case (true, true): "programmed, types when touched"
        case (true, false): "programmed, answers challenges"
        case (true, nil): "programmed"
        }
    }

    fileprivate func json(_ slot: OTPSlot) -> JSON {
        [
            "slot": .int(Int64(slot.rawValue)), "programmed": isProgrammed.map(JSON.bool) ?? .null,
            "touchTriggered": isTouchTriggered.map(JSON.bool) ?? .null,
        ]
    }
}
