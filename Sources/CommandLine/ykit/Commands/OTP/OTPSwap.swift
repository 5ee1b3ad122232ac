// SPDX-License-Identifier: Apache-2.0

import Arguments
import YKOTP
import YKWire

/// Swaps the slots.
struct OTPSwap: Verb {
    static let about = About("swap", "Swap the contents of the two slots.")

    @Flag(name: .shortAndLong, help: "Do not ask for confirmation.") var force = false

    func answer(in world: World) async throws -> Answer {
        let service = try await world.otp()
        if !force, world.plan == nil { try Prompt.confirm("swap the two slots?") }
        try await service.swap()
        return Answer("the slots are swapped", [:])
    }
}

/// Deletes the configuration of a slot.
struct OTPDelete: Verb {
    static let about = About("delete", "Empty a slot. Its contents cannot be recovered.", members: ["slot"])

    @Argument(help: "The slot, 1 or 2.", transform: OTPSlot.parse) var slot: OTPSlot

    @Flag(name: .shortAndLong, help: "Do not ask for confirmation.") var force = false

    @OptionGroup var code: AccessCodeOptions

    func answer(in world: World) async throws -> Answer {
        let service = try await world.otp()
        guard await service.state(of: slot).isProgrammed != false else { throw OTPError.emptySlot(slot) }
        let access = try code.read(world)
        if !force, world.plan == nil {
            try Prompt.confirm("empty slot \(slot.rawValue)? what is in it cannot be recovered")
        }
        try await service.delete(slot, access: access)
        return Answer("slot \(slot.rawValue) is empty", ["slot": .int(Int64(slot.rawValue))])
    }
}
