// SPDX-License-Identifier: Apache-2.0

import Arguments
import YKPIV

/// Exports a public key.
struct PIVExportKey: Verb {
    static let about = About(
        "export", "Export the public key of a slot. Private keys never leave the security key.",
        discussion: """
            --format ssh gives a line for authorized_keys, --format age a recipient from an x25519 or ecc-p256 key. The \
            key that the card reports is used first, then that of an attestation, then that of the slot's certificate.
            """, members: PublicKeyExport.members)

    @Argument(help: PIVSlot.help) var slot: PIVSlot

    @OptionGroup var export: PublicKeyExport

    func answer(in world: World) async throws -> Answer {
        let output = try export.output(world)
        let service = try await world.openPIV()
        let key = try await service.publicKey(slot)
        return try export.write(
            key, of: slot, algorithm: PIVAlgorithm(key)?.description, comment: "PIV-\(slot)", to: output)
    }
}
