// SPDX-License-Identifier: Apache-2.0

import Arguments

/// Commands for data objects.
struct PIVObjects: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "objects", abstract: "Read and write data objects.",
        subcommands: [PIVExportObject.self, PIVImportObject.self, PIVGenerateObject.self])
}
