// SPDX-License-Identifier: Apache-2.0

import Arguments
import YKPIV
import YKWire

/// Moves a key to another slot.
struct PIVMoveKey: Verb {
    static let about = About(
        "move", "Move a key to another slot (firmware 5.7 and later).",
        discussion: "Its certificate stays where it is. The management key is needed.", members: ["from", "to"])

    @Argument(help: "The source slot.") var from: PIVSlot

    @Argument(help: "The destination slot.") var to: PIVSlot

    @Flag(name: .shortAndLong, help: "Replace a key in the destination slot without asking.") var force = false

    @OptionGroup var managementKey: ManagementKeyOptions
    @OptionGroup var pin: PINOptions

    func check() throws {
        if from == to { throw UsageError("a key is moved to another slot") }
    }

    func answer(in world: World) async throws -> Answer {
        let service = try await world.openPIV()
        try await KeyOverwriting(world: world, service: service, force: force).check(to)
        var unlocking = PIVUnlocking(world, service, pin)
        try await unlocking.manage(managementKey, for: "move a key")
        try await service.moveKey(from: from, to: to)
        return Answer(
            "moved the key from \(from) to \(to)", ["from": .string(from.description), "to": .string(to.description)])
    }
}
