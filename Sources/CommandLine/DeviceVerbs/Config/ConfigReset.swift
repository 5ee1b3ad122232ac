// SPDX-License-Identifier: Apache-2.0

import Arguments
import TerminalIO
import Verbs
import YKKeys
import YKManagement
import YKWire

/// Resets all applications of a key.
struct ConfigReset: Verb {
    static let about = About(
        "reset", "Reset all applications of a YubiKey Bio, and the PIN that they share.",
        discussion: "On other keys, reset the applications one by one: fido2 reset, oath reset, and so on.",
        examples: [Example("ykit config reset")])

    @Flag(["--force", "-f"], help: "Do not ask for confirmation.") var force = false

    func run(in run: Run) async throws -> Outcome<ResetReport> {
        let service = try await run.key.open(ManagementService.self)
        let info = try await service.deviceInfo()
        guard info.canResetWhole else { throw ManagementError.noWholeReset }
        try run.confirm(
            typing: "reset",
            "this permanently deletes all keys, certificates, credentials and fingerprints on this \(info.productName)",
            unless: force)
        try await run.showing("resetting all applications") { try await service.resetDevice() }
        return Outcome(ResetReport(), "all applications reset; no PIN is set")
    }
}
