// SPDX-License-Identifier: Apache-2.0

import YKFIDO
import YKWire

/// A credential stored on a key, with its relying party and account.
struct RememberedCredential {
    let relyingParty: RelyingParty
    let credential: StoredCredential

    /// Returns all credentials of a key, or those of one relying party.
    static func all(of service: FIDOService, rpID: String? = nil) async throws -> [RememberedCredential] {
        var found: [RememberedCredential] = []
        for party in try await service.relyingParties() where rpID == nil || party.relyingParty.id == rpID {
            for credential in try await service.credentials(of: party) {
                found.append(RememberedCredential(relyingParty: party.relyingParty, credential: credential))
            }
        }
        return found
    }

    /// The identifier in base64url.
    var id: String { Base64.encodeURL(credential.id.id) }

    /// The account's name, or else what identifies it.
    var name: String {
        let user = credential.user
        return user.name ?? user.displayName ?? Base64.encodeURL(user.id)
    }

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
        return row + [algorithm, more.filter { !$0.isEmpty }.joined(separator: ", ")]
    }

    /// The members of the credential, without its large-blob key, which is a secret.
    var json: JSON {
        let user = credential.user
        return [
            "rpId": .string(relyingParty.id), "rpName": relyingParty.name.map(JSON.string) ?? .null,
            "credentialId": .string(id), "userId": .string(Base64.encodeURL(user.id)),
            "userName": user.name.map(JSON.string) ?? .null,
            "displayName": user.displayName.map(JSON.string) ?? .null,
            "algorithm": credential.publicKey.algorithm.map { .string($0.description) } ?? .null,
            "publicKey": .string(Base64.encodeURL(credential.publicKey.encoded)),
            "credProtect": credential.protection.map { .string($0.description) } ?? .null,
            "hasLargeBlobKey": .bool(credential.largeBlobKey != nil),
            "thirdPartyPayment": credential.allowsThirdPartyPayment.map(JSON.bool) ?? .null,
        ]
    }

    /// Returns the credential for a query: by its identifier or the beginning of it, else by the account's name, else
    /// by part of the account's or relying party's name, ignoring case. The user chooses among several.
    static func one(_ query: String, in all: [RememberedCredential], _ world: World) throws -> RememberedCredential {
        let wanted = query.lowercased()
        let tests: [(RememberedCredential) -> Bool] = [
            { $0.id == query || Hex.encode($0.credential.id.id) == wanted },
            { query.count >= 6 && $0.id.hasPrefix(query) },
            { $0.name == query },
            { $0.name.mentions(query) || $0.relyingParty.id.mentions(query) },
        ]
        for test in tests {
            let found = all.filter(test)
            if let only = found.first, found.count == 1 { return only }
            guard found.count > 1 else { continue }
            let failure = several(query, found)
            return found[try world.choose("which credential?", among: failure.candidates, orElse: failure)]
        }
        throw Explanation(
            "no-such-credential", .notFound, "the key stores no credential '\(query.printable)'",
            hint: "ykit fido2 credentials list")
    }

    private static func several(_ query: String, _ found: [RememberedCredential]) -> Explanation {
        Explanation(
            "several-credentials", .severalDevices, "'\(query.printable)' means \(found.count) credentials",
            hint: "give the identifier, or enough of its beginning",
            candidates: found.map { "\($0.id)  \($0.words)" })
    }
}
