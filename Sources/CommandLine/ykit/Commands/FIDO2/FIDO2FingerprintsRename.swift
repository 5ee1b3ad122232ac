// SPDX-License-Identifier: Apache-2.0

import Arguments
import YKFIDO
import YKWire

/// Names a fingerprint.
struct FIDO2FingerprintsRename: Verb {
    static let about = About("rename", "Give a fingerprint another name.", members: ["fingerprint"])

    @Argument(help: "Which one: its identifier or its name.") var fingerprint: String

    @Argument(help: "The new name.") var name: String

    @OptionGroup var pin: PINOptions

    func answer(in world: World) async throws -> Answer {
        let service = try await world.openFingerprints(pin, for: "name a fingerprint")
        let found = try Fingerprint.one(fingerprint, in: try await service.fingerprints(), world)
        try await service.renameFingerprint(found.template, to: name)
        return Answer(
            "fingerprint \(found.id) is now '\(name.printable)'",
            ["fingerprint": ["id": .string(found.id), "name": .string(name)]])
    }
}
