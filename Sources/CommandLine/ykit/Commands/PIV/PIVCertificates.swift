// SPDX-License-Identifier: Apache-2.0

import Arguments

/// Commands for certificates.
struct PIVCertificates: ParsableCommand {
    static let about = About(
        "certificates", "Manage certificates in slots, and certificate requests.",
        subcommands: [
            PIVGenerateCertificate.self, PIVRequestCertificate.self, PIVImportCertificate.self,
            PIVExportCertificate.self, PIVDeleteCertificate.self,
        ])
}
