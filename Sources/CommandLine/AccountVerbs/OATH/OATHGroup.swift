// SPDX-License-Identifier: Apache-2.0

import Applications
package import Arguments
import TerminalIO
import Verbs
import YKKeys
import YKOATH
import YKTransport

/// Commands for one-time passwords.
package struct OATHGroup: ParsableCommand {
    package static let about = About(
        "One-time codes: TOTP and HOTP accounts.",
        subcommands: [
            "info": OATHShow.self, "list": OATHList.self, ["calculate", "code"]: OATHCalculate.self,
            "add": OATHAdd.self, "uri": OATHUri.self, "import": OATHImport.self, "export": OATHExport.self,
            "rename": OATHRename.self, "delete": OATHDelete.self, "reset": OATHReset.self, "access": OATHAccess.self,
        ],
        examples: [Example("ykit oath add GitHub:alice@example.com"), Example("ykit oath code github")])

    package init() {}
}

/// What the OATH application reports about itself.
struct OATHState: Report {
    let info: OATHInfo
    let isRemembered: Bool

    static let members: [Member<OATHState>] = [
        Member("version", title: "version", absent: "not reported") { $0.info.version?.description },
        Member("deviceId", title: "device id") { $0.info.deviceID },
        Member(
            "hasPassword", title: "password",
            line: { state in
                state.info.hasPassword ? state.isRemembered ? "set, remembered on this computer" : "set" : "not set"
            }
        ) { $0.info.hasPassword },
        Member("locked") { $0.info.isLocked },
        Member("remembered", "whether this computer has the password") { $0.isRemembered },
    ]
}

/// Shows what the OATH application reports about itself.
struct OATHShow: Verb {
    static let about = About(
        "Show version, device ID and whether a password is set. Needs no password.",
        examples: [Example("ykit oath info")])

    func run(in run: Run) async throws -> Outcome<OATHState> {
        let info = await (try run.open(OATHService.self)).info
        let isRemembered = (try? run.keyring().holds(info.deviceID)) ?? false
        let state = OATHState(info: info, isRemembered: isRemembered)
        return Outcome(state, state.details)
    }
}

/// Deletes all data of the OATH application.
struct OATHReset: Verb {
    static let about = About(
        "Delete all accounts and the password.",
        examples: [Example("ykit oath reset")])
    static let answer = Shape(Item<String>("deviceId"))

    @OptionGroup var confirmation: Confirmation

    func run(in run: Run) async throws -> Outcome<String> {
        let service = try await run.open(OATHService.self)
        let before = await service.info.deviceID
        try confirmation.ask(
            typing: "reset", "this permanently deletes all OATH accounts on this key, and the password", in: run)
        try await service.reset()
        _ = try? run.keyring().forget(before)
        let after = await service.info.deviceID
        return Outcome(after, "all accounts deleted; the device ID is now \(after)")
    }
}
