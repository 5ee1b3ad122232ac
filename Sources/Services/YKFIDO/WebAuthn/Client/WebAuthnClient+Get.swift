// SPDX-License-Identifier: Apache-2.0

import YKWire

extension WebAuthnClient {
    /// Requests an assertion (`navigator.credentials.get()`, WebAuthn Level 3 §5.1.4): requests the PIN if it is
    /// required, then waits for a touch. If the key has several accounts, `choose` returns the index of one; `nil`
    /// throws `noneChosen`.
    ///
    /// With `clientDataHash`, 32 bytes, another program wrote the client data, and the response contains none.
    public func get(
        _ options: PublicKeyCredentialRequestOptions, clientDataHash: [UInt8]? = nil,
        choosing choose: @Sendable ([Assertion]) async -> Int?
    ) async throws(WebAuthnError) -> AuthenticationResponse {
        let signed = try await sign(options, clientDataHash)
        var chosen = signed.assertions.first
        if signed.assertions.count > 1 {
            chosen = await choose(signed.assertions).flatMap {
                signed.assertions.indices.contains($0) ? signed.assertions[$0] : nil
            }
        }
        guard let chosen else { throw .noneChosen }
        return try await response(chosen, signed)
    }

    /// Requests assertions from all discoverable credentials of the relying party, or from one of the list.
    public func get(
        _ options: PublicKeyCredentialRequestOptions, clientDataHash: [UInt8]? = nil
    ) async throws(WebAuthnError) -> [AuthenticationResponse] {
        let signed = try await sign(options, clientDataHash)
        var responses: [AuthenticationResponse] = []
        for assertion in signed.assertions { responses.append(try await response(assertion, signed)) }
        return responses
    }

    private struct Signed {
        let assertions: [Assertion]
        let ceremony: RequestCeremony
        let data: ClientDataSource
    }

    private func sign(
        _ options: PublicKeyCredentialRequestOptions, _ hash: [UInt8]?
    ) async throws(WebAuthnError) -> Signed {
        let rpID = try options.isPayment ? origin.payeeID(options.rpID) : origin.relyingPartyID(options.rpID)
        var data = try clientData(.get, options.challenge, hash: hash)
        let info = try await info()
        let ceremony = RequestCeremony(options: options, rpID: rpID, origin: origin, info: info, service: service)
        if case .text(var text) = data {
            for part in extensions { text = try part.clientData(text, ceremony) }
            data = .text(text)
        }
        var draft = AssertionRequest(rpID: rpID, clientDataHash: data.hash)
        draft.allowList = options.allowCredentials.descriptors(preferring: await transports(info))
        if draft.allowList.isEmpty, !options.allowCredentials.isEmpty { throw .key(.noCredentials) }
        draft.userVerification = options.userVerification
        draft.usesU2F = usesU2F
        draft.timeout = Self.timeout(options.timeout)
        for part in extensions { try part.prepare(&draft, ceremony) }
        let request = draft
        let assertions = try await asking { () async throws(FIDOError) in try await service.assert(request) }
        for assertion in assertions {
            try assertion.response.authenticatorData.check(request.userVerification, request.requiresPresence)
        }
        return Signed(assertions: assertions, ceremony: ceremony, data: data)
    }

    private func response(
        _ assertion: Assertion, _ signed: Signed
    ) async throws(WebAuthnError) -> AuthenticationResponse {
        var results = JSONValue.Object()
        for part in extensions { try await part.finish(&results, assertion, signed.ceremony) }
        return AuthenticationResponse(
            id: assertion.credential.id, clientDataJSON: signed.data.bytes,
            authenticatorData: assertion.response.authenticatorData, signature: assertion.response.signature,
            userHandle: assertion.response.user?.id, attachment: Self.attachment(signed.ceremony.info),
            clientExtensionResults: results)
    }
}
