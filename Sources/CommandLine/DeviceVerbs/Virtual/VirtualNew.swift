// SPDX-License-Identifier: Apache-2.0

import Arguments
import Glibc
import TerminalIO
import Verbs
import YKVirtualKey
import YKWire

/// A virtual key that was created.
struct CreatedKey: Report {
    let file: String
    let model: String
    let serial: UInt32

    static let members: [Member<CreatedKey>] = [
        Member("file") { $0.file },
        Member("model") { $0.model },
        Member("serial") { String($0.serial) },
    ]
}

/// Creates a virtual key in a file.
struct VirtualNew: Verb {
    static let uses: GlobalUse = []
    static let about = About(
        "new", "Create a virtual key in a new file.",
        discussion: "To use it: ykit --virtual FILE …, or ykit virtual serve --vpcd --state FILE",
        examples: [
            Example("ykit virtual new test.json"), Example("ykit virtual new security-key.json --model security-key"),
        ])

    @OptionGroup var new: NewKeyOptions

    @Argument("file", help: "The new file.", completion: .file) var file: String

    func run(in run: Run) async throws -> Outcome<CreatedKey> {
        guard access(file, F_OK) != 0 else {
            throw Explanation.exists(file)
        }
        let serial = UInt32.random(in: 10_000_000...99_999_999)
        let profile = try new.profile(serial: serial) ?? DeviceProfile(serial: serial)
        let key = try VirtualKey(file: file, profile: profile)
        let model = key.state.profile.model.rawValue
        return Outcome(
            CreatedKey(file: file, model: model, serial: serial),
            "\(file.printable): a new \(model), serial \(serial)")
    }
}
