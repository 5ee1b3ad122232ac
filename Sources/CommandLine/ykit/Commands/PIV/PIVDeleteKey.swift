// SPDX-License-Identifier: Apache-2.0

import Arguments
import YKPIV
import YKWire

/// Deletes a key.
struct PIVDeleteKey: Verb {
    static let about = About(
        "delete", "Delete a key for good (firmware 5.7 and later).",
        discussion: "Its certificate stays: ykit piv certificates delete. The management key is needed.",
        members: ["slot"])

    @Argument(help: PIVSlot.help) var slot: PIVSlot

    @OptionGroup var confirmation: Confirmation
    @OptionGroup var managementKey: ManagementKeyOptions
    @OptionGroup var pin: PINOptions

    func answer(in world: World) async throws -> Answer {
        let service = try await world.openPIV()
        try confirmation.ask("delete the key in \(slot) for good?", in: world)
        var unlocking = PIVUnlocking(world, service, pin)
        try await unlocking.manage(managementKey, for: "delete a key")
        try await service.deleteKey(slot)
        return Answer("deleted the key in \(slot)", ["slot": .string(slot.description)])
    }
}
