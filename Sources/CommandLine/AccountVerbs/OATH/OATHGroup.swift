// SPDX-License-Identifier: Apache-2.0

import Arguments
import Verbs
import YKKeys
import YKOATH
import YKTransport
import YKWire

/// Commands for one-time passwords.
struct OATHGroup: ParsableCommand {
    static let about = About(
        "oath", "One-time codes: TOTP and HOTP accounts.",
        subcommands: [
            OATHShow.self, OATHList.self, OATHCalculate.self, OATHAdd.self, OATHUri.self, OATHImport.self,
            OATHExport.self, OATHRename.self, OATHDelete.self,
            OATHReset.self, OATHAccess.self,
        ])
}

/// Shows what the OATH application reports about itself.
struct OATHShow: Verb {
    static let about = About(
        "info", "Show version, device ID and whether a password is set. Needs no password.",
        members: ["version", "deviceId", "hasPassword", "locked", "remembered"])

    func answer(in world: World) async throws -> Answer {
        let info = await (try world.openOATH()).info
        let isRemembered = (try? world.keyring().holds(info.deviceID)) ?? false
        let version = info.version?.description
        let rows = [
            ["version", version ?? "not told"], ["device id", info.deviceID],
            ["password", info.hasPassword ? (isRemembered ? "set, remembered on this computer" : "set") : "not set"],
        ]
        return Answer(
            Table.details(rows),
            [
                "version": version.map(JSONValue.string) ?? .null, "deviceId": .string(info.deviceID),
                "hasPassword": .bool(info.hasPassword), "locked": .bool(info.isLocked),
                "remembered": .bool(isRemembered),
            ])
    }
}

/// Deletes all data of the OATH application.
struct OATHReset: Verb {
    static let about = About("reset", "Delete all accounts and the password.", members: ["deviceId"])

    @OptionGroup var confirmation: Confirmation

    func answer(in world: World) async throws -> Answer {
        let service = try await world.openOATH()
        let before = await service.info.deviceID
        try confirmation.ask(
            typing: "reset", "this deletes all OATH accounts of this key for good, and the password", in: world)
        try await service.reset()
        _ = try? world.keyring().forget(before)
        let after = await service.info.deviceID
        return Answer("all accounts are deleted, the device id is now \(after)", ["deviceId": .string(after)])
    }
}
