// SPDX-License-Identifier: Apache-2.0

import Arguments
import TerminalIO
import Verbs
import YKFIDO
import YKKeys
import YKManagement
import YKOATH
import YKRelyingParty
import YKTransport
import YKWire

/// Shows what a key is and what it supports.
struct Info: Verb {
    static let about = About(
        "info",
        "Show a key's model, its applications, the state of OATH, and known flaws of its firmware.",
        discussion:
            "Uses the card interface if there is one, else the FIDO interface; choose with --link pcsc or --link hid.",
        examples: [
            Example("ykit info"), Example("ykit info --json"),
            Example("ykit info --metadata blob.jwt", "Show what the FIDO Alliance reports about the model."),
        ])

    @Flag("--check-fips", help: "Check whether a YubiKey FIPS of the 4 series is in its FIPS mode.")
    var checkFips = false

    @OptionGroup var metadata: MetadataOptions

    func check() throws { try metadata.check() }

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
        let model = try await list?.model(in: run)
        var outcome = Outcome(
            DescribedKey(key: report, model: model),
            report.lines + (model.map { [""] + Table.details($0.rows) } ?? []))
        outcome.answer.warnings = report.warnings + (model?.warnings ?? [])
        return outcome
    }
}

/// A key, and what the list of models says about it.
struct DescribedKey: Report {
    let key: KeyReport
    let model: ModelReport?

    static let members: [Member<DescribedKey>] =
        including { $0.key } + [Member("model", "from --metadata") { $0.model }]
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
