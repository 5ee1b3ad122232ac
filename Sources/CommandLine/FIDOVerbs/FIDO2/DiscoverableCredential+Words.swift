// SPDX-License-Identifier: Apache-2.0

import Arguments
import Verbs
import YKFIDO
import YKKeys
import YKWire

extension DiscoverableCredential {
    /// The help of an argument that names a credential.
    static let help = "Which one: its identifier, the beginning of it, or a part of the account's name."

    /// A short description of the account and relying party.
    var words: String { "'\(name.printable)' at \(relyingParty.id.printable)" }

    var row: [String] {
        let user = credential.user
        let display = user.displayName.flatMap { $0 == user.name ? nil : $0 } ?? ""
        return [relyingParty.id.printable, name.printable, display.printable, id]
    }

    var longRow: [String] {
        let algorithm = credential.publicKey.algorithm?.description ?? "?"
        let more = [
            credential.protection.flatMap { $0 == .optional ? nil : $0.description } ?? "",
            credential.largeBlobKey == nil ? "" : "large blob",
            credential.allowsThirdPartyPayment == true ? "payment" : "",
        ]
        return row + [algorithm, more.filter { !$0.isEmpty }.listed()]
    }

    /// The members of the credential, without its large-blob key, which is a secret.
    var json: JSONValue {
        let user = credential.user
        return [
            "rpId": .string(relyingParty.id), "rpName": relyingParty.name.map(JSONValue.string) ?? .null,
            "credentialId": .string(id), "userId": .string(Base64.encodeURL(user.id)),
            "userName": user.name.map(JSONValue.string) ?? .null,
            "displayName": user.displayName.map(JSONValue.string) ?? .null,
            "algorithm": credential.publicKey.algorithm.map { .string($0.description) } ?? .null,
            "publicKey": .string(Base64.encodeURL(credential.publicKey.encoded)),
            "credProtect": credential.protection.map { .string($0.description) } ?? .null,
            "hasLargeBlobKey": .bool(credential.largeBlobKey != nil),
            "thirdPartyPayment": credential.allowsThirdPartyPayment.map(JSONValue.bool) ?? .null,
        ]
    }

    /// Returns the credential for a query; the user chooses among several.
    static func one(
        _ query: String, in all: [DiscoverableCredential], _ world: World
    ) throws -> DiscoverableCredential {
        switch AccountMatch(query, in: all) {
        case .one(let only): return only
        case .none:
            throw Explanation(
                "no-such-credential", .notFound, "the key stores no credential '\(query.printable)'",
                hint: "ykit fido2 credentials list")
        case .several(let found):
            let failure = Explanation(
                "several-credentials", .severalDevices, "'\(query.printable)' means \(found.count) credentials",
                hint: "give the identifier, or enough of its beginning",
                candidates: found.map { "\($0.id)  \($0.words)" })
            return found[try world.choose("which credential?", among: failure.candidates, orElse: failure)]
        }
    }
}
