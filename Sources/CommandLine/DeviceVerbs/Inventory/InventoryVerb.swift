// SPDX-License-Identifier: Apache-2.0

import Applications
import Arguments
import TerminalIO
import Verbs
import YKFIDO
import YKInventory
import YKKeys
import YKUse
import YKWire

/// Lists what a key opens, in a form that can be saved.
struct InventoryVerb: Verb {
    static let uses: GlobalUse = [.device, .virtual, .channel]
    static let about = About(
        "inventory", "List what a key opens, to be saved and compared with another key.",
        discussion: """
            Passkeys, OATH accounts, keys and certificates of PIV and OpenPGP, SSH keys, keys for age, logins with \
            pam_u2f, LUKS2 volumes, OTP slots, YubiHSM credentials and Secrets. The output contains no secrets, but reveals where the key is used. 'ykit \
            compare' reads it in place of the key. Nothing is written to the key, and no touch is required.

            On a terminal the list is a table; in a file or a pipe it is JSON, the form that 'ykit compare' reads.
            """,
        examples: [
            Example("ykit inventory"), Example("ykit inventory > first.json", "Save what this key opens."),
            Example("ykit inventory --passkeys > first.json", "The same with passkeys, which requires the PIN."),
        ])

    @Flag("--passkeys", help: "Also list passkeys; requires the PIN.") var passkeys = false

    @OptionGroup var files: InventoryFiles
    @OptionGroup var pin: PINOptions

    func check() throws {
        try files.check()
        if !passkeys, pin.places.isGiven || pin.text != nil { throw UsageError("the PIN options require --passkeys") }
    }

    func run(in run: Run) async throws -> Outcome<InventoryReport> {
        let references = try files.references(run)
        let reading = try await run.inventory(references, pin: passkeys ? pin : nil)
        let report = InventoryReport(inventory: reading.inventory)
        let isForPeople = run.terminal.isOutputTerminal
        var outcome = Outcome(report, isForPeople ? report.lines : [reading.inventory.json.text])
        outcome.answer.warnings = reading.warnings
        return outcome
    }
}

extension Run {
    /// Reads what a key opens.
    ///
    /// - Parameter pin: The source of the PIN for listing passkeys; `nil` to omit them.
    func inventory(
        _ references: [CredentialReference], pin: PINOptions?
    ) async throws -> InventoryReader.Reading {
        var reader = InventoryReader(try await foundKey())
        reader.references = references
        if let pin {
            let credential = fidoCredential(pin, for: "list its passkeys")
            pins = credential
            reader.listsPasskeys = true
            reader.interaction = credential.interaction
        }
        reader.unlock = { service in try await self.unlock(service, PasswordOptions()) }
        let reading = try await reader.read(at: now)
        try checkInterrupted()
        return reading
    }
}

extension InventoryReader.Reading {
    /// Why some of the key's contents are missing.
    var warnings: [Warning] {
        problems.map { problem in
            Warning(Explanation(problem.error)) {
                "the \(problem.kind.words) of \(inventory.key.words) were not read: \($0)"
            }
        }
    }
}
