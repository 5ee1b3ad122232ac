// SPDX-License-Identifier: Apache-2.0

import Applications
package import Arguments
import TerminalIO
import Verbs
import YKPIV

/// Commands for the PIV application.
package struct PIVGroup: ParsableCommand {
    package static let about = About(
        "PIV: private keys, certificates, signatures, decryption.",
        discussion: """
            'ykit help slots' lists slots and objects. A FILE of - means standard input or output.
            """,
        subcommands: [
            "info": PIVShow.self, "access": PIVAccess.self, "keys": PIVKeys.self, "certificates": PIVCertificates.self,
            "objects": PIVObjects.self, "sign": PIVSign.self, "decrypt": PIVDecrypt.self, "derive": PIVDerive.self,
            "attest": PIVAttest.self, "reset": PIVReset.self,
        ],
        examples: [Example("ykit piv keys generate 9a public.pem")])

    package init() {}
}

/// Shows the content of the PIV application.
struct PIVShow: Verb {
    static let about = About(
        "Show keys, certificates, and the state of PIN, PUK and management key.",
        discussion: """
            Needs no PIN and uses up no tries. Retired slots are read in order until four in a row have neither key \
            nor certificate; the output says which were not read. --all reads all of them, and f9.
            """,
        examples: [Example("ykit piv info")])

    @Flag(["--all", "-a"], help: "Read all slots.") var all = false

    @Flag("--uris", help: "Show PKCS#11 URIs of the keys instead, and commands that use them.") var uris = false

    func run(in run: Run) async throws -> Outcome<PIVContents> {
        let service = try await run.openPIV()
        let report = try await service.report(all ? .all : .default)
        let contents = PIVContents(report: report, advice: uris ? PKCS11Advice(report) : nil, now: run.now)
        var outcome = Outcome(contents, contents.lines)
        outcome.answer.warnings = contents.warnings
        return outcome
    }
}

/// Deletes all data of the PIV application.
struct PIVReset: Verb {
    static let about = About(
        "Delete all PIV keys, certificates and objects, and restore the default PIN and PUK.",
        discussion: """
            The card allows a reset only when PIN and PUK are blocked, so ykit uses up all their tries, once the \
            card has shown that it supports the command. Afterwards the PIN is 123456, the PUK 12345678, and the \
            management key the default. The attestation key in f9 stays. Neither PIN nor management key is required. \
            Other applications of the key are not affected.
            """,
        examples: [Example("ykit piv reset")])
    static let answer = Shape(done: "reset")

    @Flag(["--force", "-f"], help: "Do not ask for confirmation.") var force = false

    func run(in run: Run) async throws -> Outcome<Void> {
        let service = try await run.openPIV()
        try await run.rehearse { try await describe(service, run) }
        try run.endPlan(nil)
        try run.confirm(
            typing: "reset",
            "this blocks PIN and PUK, then permanently deletes all PIV keys, certificates and objects on this key",
            unless: force)
        try await run.showing("resetting PIV") { try await service.reset() }
        var outcome = Outcome(done: "all PIV keys and certificates deleted")
        outcome.answer.warnings = [
            Warning("factory-default", "PIN, PUK and management key now have their default values")
        ]
        return outcome
    }

    /// Adds the attempts with wrong codes to a plan without their number, which depends on the card.
    private func describe(_ service: PIVService, _ run: Run) async throws {
        try await service.resetBlocked()
        for name in ["VERIFY the PIN", "CHANGE REFERENCE DATA of the PUK"] {
            run.describe(name + " with wrong values, until it is blocked")
        }
        try await service.resetBlocked()
    }
}
