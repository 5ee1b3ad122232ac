// SPDX-License-Identifier: Apache-2.0

import Arguments
import YKFIDO
import YKKeys
import YKWire

/// Removes a credential's large blob.
struct FIDO2LargeBlobDelete: Verb {
    static let about = About(
        "delete", "Remove a credential's large blob; the credential stays.", members: ["credentialId"])

    @Argument(
        isBase64URL: true, help: "Which one: its identifier, the beginning of it, or a part of the account's name.")
    var credential: String

    @OptionGroup var confirmation: Confirmation
    @OptionGroup var pin: PINOptions

    func answer(in world: World) async throws -> Answer {
        let (service, found) = try await world.openLargeBlob(of: credential, pin, for: "remove a large blob")
        let key = try found.largeBlobKey()
        try confirmation.ask("delete the large blob of \(found.words)?", in: world)
        guard try await service.removeLargeBlob(key: key) else {
            throw Explanation("no-large-blob", .notFound, "the credential of \(found.words) has no large blob")
        }
        return Answer("deleted the large blob of \(found.words)", ["credentialId": .string(found.id)])
    }
}
