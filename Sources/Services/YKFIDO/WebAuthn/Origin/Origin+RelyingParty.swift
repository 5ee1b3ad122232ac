// SPDX-License-Identifier: Apache-2.0

extension Origin {
    /// The relying party identifier that this origin may use: the given one, otherwise the host.
    ///
    /// - Parameter list: The public suffixes.
    /// - Throws: `relyingParty` unless the identifier is the host, or a suffix of it that is a registrable domain
    ///   (HTML §7.1.1.1, WebAuthn Level 3 §5.1.3).
    public func relyingPartyID(
        _ id: String?, by list: PublicSuffixList = .newest
    ) throws(WebAuthnError) -> String {
        guard let id, id != host else { return host }
        func fault(_ problem: RelyingPartyProblem) -> WebAuthnError {
            .relyingParty(id: id, origin: description, problem)
        }
        guard DomainName.isValid(id) else { throw fault(.notADomain) }
        guard host.hasSuffix("." + id) else { throw fault(.otherDomain) }
        let suffix = list.publicSuffix(of: host)
        guard id != suffix, !suffix.hasSuffix("." + id) else { throw fault(.publicSuffix) }
        return id
    }

    /// The relying party identifier of a payment, which any origin may use (Secure Payment Confirmation §5).
    func payeeID(_ id: String?) throws(WebAuthnError) -> String {
        guard let id, id != host else { return host }
        guard DomainName.isValid(id) else { throw .relyingParty(id: id, origin: description, .notADomain) }
        return id
    }
}
