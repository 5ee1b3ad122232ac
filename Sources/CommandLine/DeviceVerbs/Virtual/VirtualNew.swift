// SPDX-License-Identifier: Apache-2.0

import Arguments
import Glibc
import Verbs
import YKVirtualKey
import YKWire

/// Creates a virtual key in a file.
struct VirtualNew: Verb {
    static let uses: GlobalUse = []
    static let about = About(
        "new", "Make a virtual key in a new file.",
        discussion: "Then: ykit --virtual FILE …, or ykit virtual serve --vpcd --state FILE",
        members: ["file", "model", "serial"])

    @OptionGroup var new: NewKeyOptions

    @Argument("file", help: "The new file.", completion: .file) var file: String

    func answer(in world: World) async throws -> Answer {
        guard access(file, F_OK) != 0 else {
            throw Files.exists(file)
        }
        let serial = UInt32.random(in: 10_000_000...99_999_999)
        let profile = try new.profile(serial: serial) ?? DeviceProfile(serial: serial)
        let key = try VirtualKey(file: file, profile: profile)
        let model = key.state.profile.model
        return Answer(
            "\(file.printable): a new \(model.rawValue), serial \(serial)",
            ["file": .string(file), "model": .string(model.rawValue), "serial": .int(Int64(serial))])
    }
}
