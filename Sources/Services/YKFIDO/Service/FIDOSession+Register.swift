// SPDX-License-Identifier: Apache-2.0

import YKCrypto
import YKWire

extension FIDOSession {
    /// Creates a credential with CTAP2.
    func register(_ request: RegistrationRequest) throws(FIDOError) -> Registration {
        let info = try info()
        if request.isResident, info.option(.rk) != true { throw .unsupported("rk") }
        try request.extensions.check(info)
        try checkAlsoExcluded(request)
        let rpID = request.relyingParty.id
        var permissions: ClientPIN.Permissions = .makeCredential
        if !request.excludeList.isEmpty { permissions.insert(.getAssertion) }
        return try verified(
            request.userVerification, permissions, rpID: rpID, isResident: request.isResident
        ) { means throws(FIDOError) in try register(request, means, info) }
    }

    private func register(
        _ request: RegistrationRequest, _ means: VerificationMeans, _ info: AuthenticatorInfo
    ) throws(FIDOError) -> Registration {
        let rpID = request.relyingParty.id
        var command = MakeCredential(
            clientDataHash: request.clientDataHash,
            relyingParty: RelyingParty(id: rpID, name: request.relyingParty.name?.shortName),
            user: request.user.withShortNames, algorithms: request.algorithms)
        command.excludeList = try fitting(request.excludeList, rpID: rpID, means)
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
        defer { tokenWasUsed() }
        guard let salts = extensions.salts, info.extensions.contains("hmac-secret-mc") else {
            command.extensions = extensions.input(info, hmacSecret: nil)
            return try registration(try send(command), command, extensions, secrets: nil)
        }
        let exchange = try HMACSecretExchange(salts, self)
        command.extensions = extensions.input(info, hmacSecret: exchange.input)
        let response = try send(command)
        let output = response.authenticatorData.extensions?["hmac-secret-mc"]
        return try registration(
            response, command, extensions, secrets: try exchange.secrets(output, during: command.name))
    }

    private func registration(
        _ response: MakeCredential.Response, _ command: MakeCredential, _ extensions: RegistrationExtensions,
        secrets: HMACSecrets?
    ) throws(FIDOError) -> Registration {
        let isResident = command.isResident ?? false
        if isResident { infoDidChange() }
        try response.authenticatorData.check(isFor: command.relyingParty.id, during: command.name)
        let signingKey: PreviewSign.GeneratedKey?
        do { signingKey = try response.signingKey(extensions.signingKey) } catch {
            throw .ctap(.malformed(error, during: command.name))
        }
        let outputs = RegistrationExtensionOutputs(
            response.authenticatorData.extensions, unsigned: response.unsignedExtensions, secrets: secrets,
            signingKey: signingKey)
        return Registration(response: response, extensions: outputs, isResident: isResident)
    }

    /// Looks for excluded credentials that were created for the other identifier; a match is revealed only after a
    /// touch (WebAuthn Level 3 §10.1.2).
    private func checkAlsoExcluded(_ request: RegistrationRequest) throws(FIDOError) {
        guard let other = request.alsoExcludedFor, try has(request.excludeList, for: other) else { return }
        try select()
        throw .credentialExcluded
    }
}

extension AuthenticatorData {
    /// Refuses a response for another relying party.
    func check(isFor rpID: String, during name: String) throws(FIDOError) {
        guard rpIDHash == HashAlgorithm.sha256.hash(rpID.utf8) else {
            throw .ctap(.malformed(WireError(.malformed, at: 0, "an answer for another relying party"), during: name))
        }
    }
}
