// SPDX-License-Identifier: Apache-2.0

public import YKFIDO
import YKWire

/// A credential stored on a key, with its relying party and account.
public struct DiscoverableCredential: Sendable, Hashable {
    /// The relying party.
    public var relyingParty: RelyingParty
    /// The credential and its account.
    public var credential: StoredCredential

    /// Creates an entry.
    public init(relyingParty: RelyingParty, credential: StoredCredential) {
        self.relyingParty = relyingParty
        self.credential = credential
    }

    /// The identifier in base64url.
    public var id: String { Base64.encodeURL(credential.id.id) }

    /// The account's name, or else what identifies it.
    public var name: String {
        let user = credential.user
        return user.name ?? user.displayName ?? Base64.encodeURL(user.id)
    }
}

extension DiscoverableCredential: CustomStringConvertible {
    /// The account and the relying party.
    public var description: String { "\(name) at \(relyingParty)" }
}

extension FIDOService {
    /// Lists the credentials stored on the key; requires the PIN.
    ///
    /// - Parameter rpID: The relying party, or `nil` for all.
    /// - Throws: `FIDOError`.
    public func discoverableCredentials(rpID: String? = nil) throws -> [DiscoverableCredential] {
        var found: [DiscoverableCredential] = []
        for party in try relyingParties() where rpID == nil || party.relyingParty.id == rpID {
            for credential in try credentials(of: party) {
                found.append(DiscoverableCredential(relyingParty: party.relyingParty, credential: credential))
            }
        }
        return found
    }
}
