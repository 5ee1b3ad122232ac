// SPDX-License-Identifier: Apache-2.0

import Arguments

/// Verbs on certificates.
struct PIVCertificates: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "certificates", abstract: "Certificates in the slots, and requests for them.",
        subcommands: [
            PIVGenerateCertificate.self, PIVRequestCertificate.self, PIVImportCertificate.self,
            PIVExportCertificate.self, PIVDeleteCertificate.self,
        ])
}
