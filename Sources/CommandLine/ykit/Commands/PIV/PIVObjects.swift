// SPDX-License-Identifier: Apache-2.0

import Arguments

/// Verbs on data objects.
struct PIVObjects: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "objects", abstract: "Data objects as they are.",
        subcommands: [PIVExportObject.self, PIVImportObject.self, PIVGenerateObject.self])
}
