// SPDX-License-Identifier: Apache-2.0

import Arguments
import YKKeys
import YKOATH
import YKWire

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
