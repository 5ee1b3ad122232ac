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
            Example("ykit info --metadata blob.jwt", "Show what the FIDO Alliance reports of the model."),
        ])

    @Flag("--check-fips", help: "Check whether a YubiKey FIPS of the 4 series is in its FIPS mode.")
    var checkFips = false

    @OptionGroup var metadata: MetadataOptions

    func check() throws { try metadata.check() }

    func run(in world: World) async throws -> Outcome<DescribedKey> {
        let list = try metadata.list(in: world)
        var report = try await KeyReport.read(in: world)
        if checkFips {
            guard let info = report.identity.info, info.version.major == 4, info.isFIPSSeries else {
                throw Explanation(
                    "not-supported", .notSupported, "--check-fips is for a YubiKey FIPS of the 4 series",
                    hint: "later keys report it in ykit info")
            }
            report.isInFIPSMode = try FIPSMode.isOn(try world.keys.fidoLink())
        }
        let model = try await list?.model(in: world)
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
    /// Returns what the list says about the model of the selected key, which only FIDO2 names.
    func model(in world: World) async throws -> ModelReport {
        let service = try await world.openFIDO()
        guard await service.hasCTAP2 else {
            throw Explanation(
                "not-supported", .notSupported, "this key has only U2F, which does not name the model",
                hint: "'ykit fido2 verify --metadata' finds it by the certificate of a registration")
        }
        return ModelReport(try await service.info().aaguid, in: self, at: world.now)
    }
}

extension KeyReport {
    /// Reads the selected key, as a card where it is one.
    static func read(in world: World) async throws -> KeyReport {
        switch try world.choosingKey({ try $0.managementRoute() }) {
        case .card: return try await KeyReport.read(try world.connect())
        case .fido(let path):
            let device = world.keys.reportIdentity(at: path)
            return KeyReport(
                try DeviceIdentity.read(fido: try world.keys.fidoLink(), device), path: device.path)
        case .keyboard(let path):
            let device = world.keys.reportIdentity(at: path)
            return KeyReport(try DeviceIdentity.read(otp: try world.keys.keyboard(path), device), path: path)
        }
    }
}
