// SPDX-License-Identifier: Apache-2.0

import Arguments
import YKPIV
import YKWire

/// Deletes a certificate.
struct PIVDeleteCertificate: Verb {
    static let about = About(
        "delete", "Delete the certificate of a slot; its key stays.",
        discussion: "The management key is needed.", members: ["slot"])

    @Argument(help: PIVSlot.help) var slot: PIVSlot

    @Flag(help: "Give the card a new CHUID, so that programs that cache its certificates read them again.")
    var updateChuid = false

    @OptionGroup var confirmation: Confirmation
    @OptionGroup var managementKey: ManagementKeyOptions
    @OptionGroup var pin: PINOptions

    func answer(in world: World) async throws -> Answer {
        let service = try await world.openPIV()
        try confirmation.ask("delete the certificate in \(slot)?", in: world)
        var unlocking = PIVUnlocking(world, service, pin)
        try await unlocking.manage(managementKey, for: "delete a certificate")
        try await service.deleteCertificate(slot, updatingCHUID: updateChuid)
        return Answer("deleted the certificate in \(slot)", ["slot": .string(slot.description)])
    }
}
