// SPDX-License-Identifier: Apache-2.0

import Applications
import Arguments
import TerminalIO
import Verbs
import YKKeys
import YKOATH
import YKTransport

/// Commands for one-time passwords.
struct OATHGroup: ParsableCommand {
    static let about = About(
        "oath", "One-time codes: TOTP and HOTP accounts.",
        subcommands: [
            OATHShow.self, OATHList.self, OATHCalculate.self, OATHAdd.self, OATHUri.self, OATHImport.self,
            OATHExport.self, OATHRename.self, OATHDelete.self,
            OATHReset.self, OATHAccess.self,
        ],
        examples: [Example("ykit oath add GitHub:alice@example.com"), Example("ykit oath code github")])
}

/// What the OATH application reports about itself.
struct OATHState: Report {
    let info: OATHInfo
    let isRemembered: Bool

    static let members: [Member<OATHState>] = [
        Member("version") { $0.info.version?.description },
        Member("deviceId") { $0.info.deviceID },
        Member("hasPassword") { $0.info.hasPassword },
        Member("locked") { $0.info.isLocked },
        Member("remembered", "whether this computer has the password") { $0.isRemembered },
    ]
}

/// Shows what the OATH application reports about itself.
struct OATHShow: Verb {
    static let about = About(
        "info", "Show version, device ID and whether a password is set. Needs no password.",
        examples: [Example("ykit oath info")])

    func run(in run: Run) async throws -> Outcome<OATHState> {
        let info = await (try run.open(OATHService.self)).info
        let isRemembered = (try? run.keyring().holds(info.deviceID)) ?? false
        let rows = [
            ["version", info.version?.description ?? "not reported"], ["device id", info.deviceID],
            ["password", info.hasPassword ? (isRemembered ? "set, remembered on this computer" : "set") : "not set"],
        ]
        return Outcome(OATHState(info: info, isRemembered: isRemembered), Table.details(rows))
    }
}

/// The OATH application after a reset.
struct ResetOATH: Report {
    let deviceID: String

    static let members: [Member<ResetOATH>] = [Member("deviceId") { $0.deviceID }]
}

/// Deletes all data of the OATH application.
struct OATHReset: Verb {
    static let about = About(
        "reset", "Delete all accounts and the password.",
        examples: [Example("ykit oath reset")])

    @OptionGroup var confirmation: Confirmation

    func run(in run: Run) async throws -> Outcome<ResetOATH> {
        let service = try await run.open(OATHService.self)
        let before = await service.info.deviceID
        try confirmation.ask(
            typing: "reset", "this permanently deletes all OATH accounts on this key, and the password", in: run)
        try await service.reset()
        _ = try? run.keyring().forget(before)
        let after = await service.info.deviceID
        return Outcome(ResetOATH(deviceID: after), "all accounts deleted; the device ID is now \(after)")
    }
}
