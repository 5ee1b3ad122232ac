// SPDX-License-Identifier: Apache-2.0

import Applications
import Arguments
import TerminalIO
import Verbs
import YKFIDO
import YKKeys
import YKManagement
import YKRelyingParty
import YKTransport

/// Shows what a key is and what it supports.
struct Info: Verb {
    static let about = About(
        "Show what a key is and what is on it: its applications, how much they store, and known flaws.",
        discussion: """
            Counts accounts, keys and certificates, and shows the tries that are left and what is still the factory \
            default; no PIN is required. --all also counts passkeys and locked accounts, which requires the FIDO2 PIN \
            and the OATH password.

            Uses the card interface if there is one, else the FIDO interface; choose with --link pcsc or --link hid.
            """,
        examples: [
            Example("ykit info"), Example("ykit info --all", "Also count the passkeys, which requires the PIN."),
            Example("ykit info --metadata blob.jwt", "Show what the FIDO Alliance reports about the model."),
        ])

    @Flag("--check-fips", help: "Check whether a YubiKey FIPS of the 4 series is in its FIPS mode.")
    var checkFips = false

    @Flag("--brief", help: "Only the key itself, without what is on it.") var brief = false
    @Flag("--all", help: "Also count what the PIN or a password protects.") var all = false

    @OptionGroup var metadata: MetadataOptions
    @OptionGroup var pin: PINOptions
    @OptionGroup var password: PasswordOptions

    func check() throws {
        try metadata.check()
        if !all, pin.isOption || password.isOption { throw UsageError("the PIN and the password require --all") }
    }

    func run(in run: Run) async throws -> Outcome<DescribedKey> {
        let list = try metadata.list(in: run)
        var report = try await run.choosing { try await $0.report() }
        if checkFips {
            guard let info = report.identity.info, info.version.major == 4, info.isFIPSSeries else {
                throw Explanation(
                    "not-supported", .notSupported, "--check-fips is for a YubiKey FIPS of the 4 series",
                    hint: "later keys report it in ykit info")
            }
            report.isInFIPSMode = try FIPSMode.isOn(try run.keys.fidoLink())
        }
        let contents =
            brief ? KeyContents() : try await KeyContents.read(report, all: all ? (pin, password) : nil, in: run)
        let model = try await list?.model(in: run)
        var outcome = Outcome(
            DescribedKey(key: report, contents: contents, model: model),
            report.lines(contents) + (model.map { [""] + $0.details } ?? []))
        outcome.answer.warnings = report.warnings + (model?.warnings ?? [])
        return outcome
    }
}

/// A key, and what the list of models says about it.
struct DescribedKey: Report {
    let key: KeyReport
    let contents: KeyContents
    let model: ModelReport?

    static let members: [Member<DescribedKey>] =
        including { $0.key } + [
            Member("contents", "what is on the key") { $0.contents }, Member("model", "from --metadata") { $0.model },
        ]
}

extension MetadataBLOB {
    /// Returns what the list says about the model of the selected key, which only FIDO2 identifies.
    func model(in run: Run) async throws -> ModelReport {
        let service = try await run.openFIDO()
        guard await service.hasCTAP2 else {
            throw Explanation(
                "not-supported", .notSupported, "this key has only U2F, which does not identify the model",
                hint: "'ykit fido2 verify --metadata' finds it by the certificate of a registration")
        }
        return ModelReport(try await service.info().aaguid, in: self, at: run.now)
    }
}
