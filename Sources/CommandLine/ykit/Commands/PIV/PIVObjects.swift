// SPDX-License-Identifier: Apache-2.0

import Arguments

/// Commands for data objects.
struct PIVObjects: ParsableCommand {
    static let about = About(
        "objects", "Read and write data objects.",
        subcommands: [PIVExportObject.self, PIVImportObject.self, PIVGenerateObject.self])
}
