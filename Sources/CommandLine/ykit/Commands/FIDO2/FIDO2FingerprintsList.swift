// SPDX-License-Identifier: Apache-2.0

import Arguments
import YKFIDO
import YKWire

/// Lists fingerprints.
struct FIDO2FingerprintsList: Verb {
    static let about = About("list", "List the enrolled fingerprints. Requires the PIN.", members: ["fingerprints"])

    @OptionGroup var pin: PINOptions

    func answer(in world: World) async throws -> Answer {
        let service = try await world.openFingerprints(pin, for: "list its fingerprints")
        let all = try await service.fingerprints()
        let lines = Table.lines(all.map { [$0.id, $0.name?.printable ?? ""] })
        return Answer(
            all.isEmpty ? ["no fingerprints"] : lines.map(\.trimmed), ["fingerprints": .array(all.map(\.json))])
    }
}
