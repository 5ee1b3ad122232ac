// SPDX-License-Identifier: Apache-2.0

import Arguments
import YKFIDO
import YKWire

/// Deletes a fingerprint from the key.
struct FIDO2FingerprintsDelete: Verb {
    static let about = About("delete", "Delete a fingerprint.", members: ["fingerprint"])

    @Argument(help: "Which one: its identifier or its name.") var fingerprint: String

    @OptionGroup var confirmation: Confirmation
    @OptionGroup var pin: PINOptions

    func answer(in world: World) async throws -> Answer {
        let service = try await world.openFingerprints(pin, for: "delete a fingerprint")
        let found = try Fingerprint.one(fingerprint, in: try await service.fingerprints(), world)
        let words = found.name.map { "'\($0.printable)'" } ?? found.id
        try confirmation.ask("delete the fingerprint \(words)?", in: world)
        try await service.removeFingerprint(found.template)
        return Answer("deleted the fingerprint \(words)", ["fingerprint": found.json])
    }
}
