// SPDX-License-Identifier: Apache-2.0

import Arguments
import YKFIDO
import YKKeys
import YKWire

/// Deletes a credential from the key.
struct FIDO2CredentialsDelete: Verb {
    static let about = About(
        "delete", "Delete a credential. It cannot be recovered.",
        discussion: "Its large blob stays; 'ykit fido2 large-blob prune' removes what belongs to no credential.",
        members: ["remembered"])

    @Argument(
        isBase64URL: true, help: "Which one: its identifier, the beginning of it, or a part of the account's name.")
    var credential: String

    @OptionGroup var confirmation: Confirmation
    @OptionGroup var pin: PINOptions

    func answer(in world: World) async throws -> Answer {
        let service = try await world.openCredentials(pin, for: "delete a credential")
        let found = try DiscoverableCredential.one(credential, in: try await service.discoverableCredentials(), world)
        try confirmation.ask("delete the credential of \(found.words)? it cannot be recovered", in: world)
        try await service.delete(found.credential.id)
        return Answer("deleted the credential of \(found.words)", ["remembered": found.json])
    }
}
