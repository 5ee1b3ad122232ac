// SPDX-License-Identifier: Apache-2.0

import Arguments
import YKPIV

/// Exports a certificate.
struct PIVExportCertificate: Verb {
    static let about = About(
        "export", "Export the certificate of a slot. Needs no PIN.",
        discussion: "--format ssh gives its public key as a line for authorized_keys.",
        members: CertificateExport.members)

    @Argument(help: PIVSlot.help) var slot: PIVSlot

    @OptionGroup var export: CertificateExport

    func answer(in world: World) async throws -> Answer {
        let output = try export.output(world)
        let service = try await world.openPIV()
        return try export.write(try await service.certificate(slot), of: slot, to: output)
    }
}
