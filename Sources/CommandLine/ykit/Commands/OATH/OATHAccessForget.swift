// SPDX-License-Identifier: Apache-2.0

import Arguments
import YKKeys
import YKOATH
import YKWire

/// Forgets remembered passwords.
struct OATHAccessForget: Verb {
    static let about = About("forget", "Forget the password on this computer.", members: ["forgotten"])

    @Flag(name: .shortAndLong, help: "Forget the passwords of all keys; no key needs to be attached.") var all = false

    func answer(in world: World) async throws -> Answer {
        let keyring = try world.keyring()
        if all {
            let count = try keyring.forgetAll()
            let what = count.map { "forgot \($0)" } ?? "forgot all"
            return Answer("\(what) in \(keyring.place)", ["forgotten": count.map { .int(Int64($0)) } ?? .null])
        }
        let info = await (try world.openOATH()).info
        let found = try keyring.forget(info.deviceID)
        let line = found ? "forgot the password of \(info.deviceID)" : "no password of \(info.deviceID) was remembered"
        return Answer(line, ["forgotten": .int(found ? 1 : 0)])
    }
}
