// SPDX-License-Identifier: Apache-2.0

import Arguments
package import TerminalIO
import Verbs
import YKFIDO
package import YKKeys
import YKWire

extension DiscoverableCredential {
    /// The help of an argument that names a credential.
    package static let help = "The credential: its identifier, the beginning of it, or part of the account's name."

    /// A short description of the account and relying party.
    package var words: String { "'\(name.printable)' at \(relyingParty.id.printable)" }

    package var row: [String] {
        let user = credential.user
        let display = user.displayName.flatMap { $0 == user.name ? nil : $0 } ?? ""
        return [relyingParty.id.printable, name.printable, display.printable, id]
    }

    package var longRow: [String] {
        let algorithm = credential.publicKey.algorithm?.description ?? "?"
        let more = [
            credential.protection.flatMap { $0 == .optional ? nil : $0.description } ?? "",
            credential.largeBlobKey == nil ? "" : "large blob",
            credential.allowsThirdPartyPayment == true ? "payment" : "",
        ]
        return row + [algorithm, more.filter { !$0.isEmpty }.listed()]
    }
}

extension DiscoverableCredential: IdentifiedEntry {
    package static var noun: String { "credential" }
    package static var listing: String { "ykit fido2 credentials list" }
    package var candidate: String { "\(id)  \(words)" }
}

/// The large-blob key is a secret, so the report says only whether there is one.
extension DiscoverableCredential: Report {
    package static let members: [Member<Self>] = [
        Member("rpId") { $0.relyingParty.id }, Member("rpName") { $0.relyingParty.name },
        Member("credentialId") { $0.id }, Member("userId") { Base64.encodeURL($0.credential.user.id) },
        Member("userName") { $0.credential.user.name }, Member("displayName") { $0.credential.user.displayName },
        Member("algorithm") { $0.credential.publicKey.algorithm?.description },
        Member("publicKey", "PEM; null for a type of key without a PEM form") { $0.credential.publicKey.pem },
        Member("coseKey", "the public key as the key stores it") { Base64.encodeURL($0.credential.publicKey.encoded) },
        Member("credProtect") { $0.credential.protection?.description },
        Member("hasLargeBlobKey") { $0.credential.largeBlobKey != nil },
        Member("thirdPartyPayment") { $0.credential.allowsThirdPartyPayment },
    ]
}
