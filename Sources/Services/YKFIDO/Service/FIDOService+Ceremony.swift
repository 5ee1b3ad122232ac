// SPDX-License-Identifier: Apache-2.0

extension FIDOService {
    /// Creates a credential (makeCredential, or U2F REGISTER on keys without CTAP2): requests the PIN if it is
    /// required, then waits for a touch.
    ///
    /// - Throws: `credentialExcluded`, `full`, `pinNeeded`, `wrongPIN`, `touchTimeout`, `unsupported` and others.
    public func register(_ request: RegistrationRequest) throws(FIDOError) -> Registration {
        try session.within(request.timeout) { () throws(FIDOError) in
            guard session.isCTAP2, !request.usesU2F else { return try session.registerU2F(request) }
            return try session.withAccess { () throws(FIDOError) in try session.register(request) }
        }
    }

    /// Requests assertions (getAssertion and getNextAssertion, or U2F AUTHENTICATE on keys without CTAP2): from all
    /// discoverable credentials of the relying party if no list is given, otherwise from one credential of the list.
    ///
    /// - Throws: `noCredentials`, `pinNeeded`, `wrongPIN`, `touchTimeout`, `unsupported` and others.
    public func assert(_ request: AssertionRequest) throws(FIDOError) -> [Assertion] {
        try session.within(request.timeout) { () throws(FIDOError) in
            guard session.isCTAP2, !request.usesU2F else {
                return [try session.assertU2F(request, for: [request.rpID, request.alternativeID].compactMap { $0 })]
            }
            return try session.withAccess { () throws(FIDOError) in try session.assert(request) }
        }
    }
}
