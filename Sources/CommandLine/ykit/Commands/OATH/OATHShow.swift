// SPDX-License-Identifier: Apache-2.0

import Arguments
import YKKeys
import YKOATH
import YKTransport
import YKWire

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
            Table.lines(rows),
            [
                "version": version.map(JSON.string) ?? .null, "deviceId": .string(info.deviceID),
                "hasPassword": .bool(info.hasPassword), "locked": .bool(info.isLocked),
                "remembered": .bool(isRemembered),
            ])
    }
}
