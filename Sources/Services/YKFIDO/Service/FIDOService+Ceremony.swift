// SPDX-License-Identifier: Apache-2.0

extension FIDOService {
    /// Makes a credential (makeCredential, or U2F REGISTER on keys without CTAP2): asks for the PIN where it is needed,
    /// then waits for a touch.
    ///
    /// Throws `credentialExcluded`, `full`, `pinNeeded`, `wrongPIN`, `touchTimeout`, `unsupported` and others.
    public func register(_ request: RegistrationRequest) throws(FIDOError) -> Registration {
        try session.within(request.timeout) { () throws(FIDOError) in
            guard session.isCTAP2, !request.usesU2F else { return try session.registerU2F(request) }
            return try session.withAccess { () throws(FIDOError) in try session.register(request) }
        }
    }

    /// Has credentials sign (getAssertion and getNextAssertion, or U2F AUTHENTICATE on keys without CTAP2): all that
    /// the key remembers for the relying party when no list is given, else one of the list.
    ///
    /// Throws `noCredentials`, `pinNeeded`, `wrongPIN`, `touchTimeout`, `unsupported` and others.
    public func assert(_ request: AssertionRequest) throws(FIDOError) -> [Assertion] {
        try session.within(request.timeout) { () throws(FIDOError) in
            guard session.isCTAP2, !request.usesU2F else {
                return [try session.assertU2F(request, for: [request.rpID, request.alternativeID].compactMap { $0 })]
            }
            return try session.withAccess { () throws(FIDOError) in try session.assert(request) }
        }
    }
}
