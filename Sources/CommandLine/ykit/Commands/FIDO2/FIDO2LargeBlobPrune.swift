// SPDX-License-Identifier: Apache-2.0

import Arguments
import YKCrypto
import YKFIDO
import YKKeys
import YKWire

/// Removes the large blobs that belong to no credential.
struct FIDO2LargeBlobPrune: Verb {
    static let about = About(
        "prune", "Remove large blobs that belong to no credential on the key.",
        discussion: "Blobs of credentials that the key does not remember itself are removed, too: it asks first.",
        members: ["removed"])

    @OptionGroup var confirmation: Confirmation
    @OptionGroup var pin: PINOptions

    func answer(in world: World) async throws -> Answer {
        let service = try await world.openLargeBlobs(pin, for: "list its credentials")
        let keys = try await service.discoverableCredentials().compactMap(\.credential.largeBlobKey)
        try confirmation.ask(
            "remove all large blobs but those of \(keys.count == 1 ? "one credential" : "\(keys.count) credentials")?",
            in: world)
        let removed = try await service.removeOrphanedLargeBlobs(keeping: keys.map { SharedSecret(Secret($0)) })
        return Answer("removed \(removed) large blobs", ["removed": .int(Int64(removed))])
    }
}
