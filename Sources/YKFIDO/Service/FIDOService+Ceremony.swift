// SPDX-License-Identifier: Apache-2.0

import YKWire

extension FIDOService {
    /// Makes a credential (makeCredential): asks for the PIN where it is needed, then waits for a touch.
    ///
    /// Throws `credentialExcluded`, `full`, `pinNeeded`, `wrongPIN`, `touchTimeout`, `unsupported` and others.
    public func register(_ request: RegistrationRequest) throws(FIDOError) -> Registration {
        let info = try session.info()
        if request.isResident, info.option(.rk) != true { throw .unsupported("rk") }
        let rpID = request.relyingParty.id
        var permissions: ClientPIN.Permissions = .makeCredential
        if !request.excludeList.isEmpty { permissions.insert(.getAssertion) }
        let means = try session.verify(
            request.userVerification, permissions, rpID: rpID, isResident: request.isResident)
        var command = MakeCredential(
            clientDataHash: request.clientDataHash, relyingParty: request.relyingParty, user: request.user,
            algorithms: request.algorithms)
        command.excludeList = try session.fitting(request.excludeList, rpID: rpID, means)
        command.isResident = request.isResident ? true : nil
        command.verifiesUser = means.option
        command.auth = means.auth(over: request.clientDataHash)
        command.enterpriseAttestation = request.enterpriseAttestation
        command.attestationFormats = request.attestationFormats
        return try register(command, request.extensions, info)
    }

    private func register(
        _ command: MakeCredential, _ extensions: RegistrationExtensions, _ info: AuthenticatorInfo
    ) throws(FIDOError) -> Registration {
        var command = command
        defer { session.tokenWasUsed() }
        guard let salts = extensions.salts, info.extensions.contains("hmac-secret-mc") else {
            command.extensions = try extensions.input(info, hmacSecret: nil)
            return registration(try session.send(command), command, secrets: nil)
        }
        let exchange = try HMACSecretExchange(salts, session)
        command.extensions = try extensions.input(info, hmacSecret: exchange.input)
        let response = try session.send(command)
        let output = response.authenticatorData.extensions?["hmac-secret-mc"]
        return registration(response, command, secrets: try exchange.secrets(output, during: command.name))
    }

    private func registration(
        _ response: MakeCredential.Response, _ command: MakeCredential, secrets: HMACSecrets?
    ) -> Registration {
        let isResident = command.isResident ?? false
        if isResident { session.infoDidChange() }
        let outputs = RegistrationExtensionOutputs(response.authenticatorData.extensions, secrets: secrets)
        return Registration(response: response, extensions: outputs, isResident: isResident)
    }

    /// Has credentials sign (getAssertion, getNextAssertion): all that the key remembers for the relying party when
    /// no list is given, else one of the list.
    ///
    /// Throws `noCredentials`, `pinNeeded`, `wrongPIN`, `touchTimeout`, `unsupported` and others.
    public func assert(_ request: AssertionRequest) throws(FIDOError) -> [Assertion] {
        let info = try session.info()
        let means = try session.verify(
            request.userVerification, .getAssertion, rpID: request.rpID, isResident: false)
        var command = GetAssertion(rpID: request.rpID, clientDataHash: request.clientDataHash)
        command.allowList = try session.fitting(request.allowList, rpID: request.rpID, means)
        if command.allowList.isEmpty, !request.allowList.isEmpty { throw .noCredentials }
        command.requiresPresence = request.requiresPresence ? nil : false
        command.verifiesUser = means.option
        command.auth = means.auth(over: request.clientDataHash)
        defer { if request.requiresPresence { session.tokenWasUsed() } }
        guard let salts = request.extensions.salts else {
            command.extensions = try request.extensions.input(info, hmacSecret: nil)
            return try assertions(command) { _ throws(FIDOError) in nil }
        }
        guard info.extensions.contains("hmac-secret") else { throw .unsupported("hmac-secret") }
        let exchange = try HMACSecretExchange(salts, session)
        command.extensions = try request.extensions.input(info, hmacSecret: exchange.input)
        return try assertions(command) { output throws(FIDOError) in
            try exchange.secrets(output, during: command.name)
        }
    }

    private func assertions(
        _ command: GetAssertion, secrets: (CBOR?) throws(FIDOError) -> HMACSecrets?
    ) throws(FIDOError) -> [Assertion] {
        var response = try session.send(command)
        let count = min(Int(clamping: response.numberOfCredentials ?? 1), FIDOSession.listLimit)
        var assertions = [try assertion(response, command, secrets: secrets)]
        while assertions.count < count {
            response = try session.send(GetNextAssertion())
            assertions.append(try assertion(response, command, secrets: secrets))
        }
        return assertions
    }

    private func assertion(
        _ response: GetAssertion.Response, _ command: GetAssertion,
        secrets: (CBOR?) throws(FIDOError) -> HMACSecrets?
    ) throws(FIDOError) -> Assertion {
        let only = command.allowList.count == 1 ? command.allowList.first : nil
        guard let credential = response.credential ?? only else {
            throw .ctap(.malformed(WireError(.missing, at: 0, "the credential is not named"), during: command.name))
        }
        let map = response.authenticatorData.extensions
        return Assertion(
            response: response, credential: credential, rpID: command.rpID,
            extensions: AssertionExtensionOutputs(map, secrets: try secrets(map?["hmac-secret"])))
    }
}
