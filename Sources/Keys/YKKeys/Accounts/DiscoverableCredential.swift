// SPDX-License-Identifier: Apache-2.0

public import YKFIDO
import YKWire

/// A credential stored on a key, with its relying party and account.
public struct DiscoverableCredential: Sendable, Hashable {
    /// The relying party.
    public var relyingParty: RelyingParty
    /// The credential and its account.
    public var credential: StoredCredential

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
        let (found, problems) = try listedCredentials(rpID: rpID)
        if let problem = problems.first?.problem { throw problem }
        return found
    }

    /// Lists the credentials stored on the key as far as it can report them; requires the PIN.
    ///
    /// - Parameter rpID: The relying party, or `nil` for all.
    /// - Returns: The credentials, and the relying parties whose lists end early.
    /// - Throws: `FIDOError`.
    public func listedCredentials(
        rpID: String? = nil
    ) throws -> (found: [DiscoverableCredential], problems: [(relyingParty: RelyingParty, problem: FIDOError)]) {
        var found: [DiscoverableCredential] = []
        var problems: [(relyingParty: RelyingParty, problem: FIDOError)] = []
        for party in try relyingParties() where rpID == nil || party.relyingParty.id == rpID {
            let (credentials, problem) = try listedCredentials(of: party)
            found += credentials.map { DiscoverableCredential(relyingParty: party.relyingParty, credential: $0) }
            if let problem { problems.append((party.relyingParty, problem)) }
        }
        return (found, problems)
    }
}
