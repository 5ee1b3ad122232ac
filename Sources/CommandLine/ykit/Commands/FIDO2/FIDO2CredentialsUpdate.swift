// SPDX-License-Identifier: Apache-2.0

import Arguments
import YKFIDO
import YKKeys
import YKWire

/// Changes the names of a credential's account.
struct FIDO2CredentialsUpdate: Verb {
    static let about = About(
        "update", "Change the names of a credential's account on the key.", members: ["remembered"])

    @Argument(
        isBase64URL: true, help: "Which one: its identifier, the beginning of it, or a part of the account's name.")
    var credential: String

    @Option(help: "The account's new name.") var user: String?

    @Option(help: "The account's new display name.") var displayName: String?

    @OptionGroup var pin: PINOptions

    func check() throws {
        if user == nil, displayName == nil { throw UsageError("say what is new: --user or --display-name") }
    }

    func answer(in world: World) async throws -> Answer {
        let service = try await world.openCredentials(pin, for: "change a credential")
        guard try await service.info().option(.credMgmt) == true else {
            throw Explanation(
                "not-supported", .notSupported, "this key cannot change the names of its credentials",
                hint: "keys of CTAP 2.1 and later can")
        }
        let found = try DiscoverableCredential.one(credential, in: try await service.discoverableCredentials(), world)
        var account = found.credential.user
        account.name = user ?? account.name
        account.displayName = displayName ?? account.displayName
        try await service.update(found.credential.id, user: account)
        var json = found.json.object ?? JSON.Object()
        json["userName"] = account.name.map(JSON.string) ?? .null
        json["displayName"] = account.displayName.map(JSON.string) ?? .null
        return Answer("changed the names of \(found.words)", ["remembered": .object(json)])
    }
}
