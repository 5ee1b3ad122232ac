// SPDX-License-Identifier: Apache-2.0

import Arguments
import TerminalIO
import Verbs
import YKKeys
import YKManagement
import YKWire

/// Enables and disables applications over NFC.
struct ConfigNFC: Verb {
    static let about = About(
        "nfc",
        "Enable and disable applications over NFC, or turn NFC off until the key is next plugged into a USB port.",
        examples: [
            Example("ykit config nfc --list"),
            Example("ykit config nfc --restrict", "Keep NFC off until the key is next plugged into a USB port."),
        ])

    @OptionGroup var switches: ApplicationSwitches

    @Flag(["-D", "--disable-all"], help: "Disable all.") var disableAll = false

    @Flag(
        ["-R", "--restrict"],
        help: "Keep NFC off until the key is in a USB port again, for example to send it by mail; firmware 5.7.")
    var restrict = false

    @Flag(["--list", "-l"], help: "List what is enabled, and change nothing.") var list = false

    @Flag(["--force", "-f"], help: "Do not ask for confirmation.") var force = false

    @OptionGroup var lock: LockCodeOptions

    func check() throws {
        let isToggle = switches.areGiven || disableAll
        guard [isToggle, restrict, list].count(where: \.self) == 1 else {
            throw UsageError("give the applications to enable or disable, or --restrict, or --list")
        }
    }

    func run(in run: Run) async throws -> Outcome<ApplicationsReport> {
        let service = try await run.key.open(ManagementService.self)
        let info = try await service.deviceInfo()
        guard let nfc = info.nfc else { throw ManagementError.noNFC }
        if list { return ConfigUSB.listing(nfc) }
        var change = ConfigurationChange()
        if restrict, !info.isNFCRestricted {
            change.configuration.restrictsNFC = true
            change.note("keep NFC off until the key is in a USB port again")
        }
        try change.toggle(
            .nfc, on: switches.on(nfc), off: (disableAll ? nfc.supported : []).union(switches.disable.capability), info)
        return try await change.write(.nfc, info, service, lock, isForced: force, in: run)
    }
}
