// SPDX-License-Identifier: Apache-2.0

import Arguments
import YKCrypto
import YKPIV
import YKWire

/// Shows the metadata of a key.
struct PIVKeyInfo: Verb {
    static let about = About(
        "info", "Show what the card reports about a key. Needs no PIN.",
        discussion: "Cards before firmware 5.3 say only what an attestation or a certificate tells.",
        members: ["slot", "algorithm", "origin", "pinPolicy", "touchPolicy", "publicKey"])

    @Argument(help: PIVSlot.help) var slot: PIVSlot

    func answer(in world: World) async throws -> Answer {
        let service = try await world.openPIV()
        var answer = Answer()
        answer.members["slot"] = .string(slot.description)
        guard let metadata = try await service.metadata(of: slot) else {
            let key = try await service.publicKey(slot)
            let algorithm = PIVAlgorithm(key)?.description
            answer.members["algorithm"] = algorithm.map(JSON.string)
            answer.members["publicKey"] = .string(PEM.encode("PUBLIC KEY", key.subjectPublicKeyInfo))
            answer.lines = Table.lines([["slot", "\(slot), \(slot.name)"], ["algorithm", algorithm ?? "not known"]])
            return answer
        }
        metadata.add(to: &answer.members)
        answer.lines = Table.lines([
            ["slot", "\(slot), \(slot.name)"], ["algorithm", metadata.algorithm.description],
            ["origin", metadata.origin?.description ?? "not told"], ["PIN policy", metadata.policies.pin.description],
            ["touch policy", metadata.policies.touch.description],
        ])
        return answer
    }
}
