// SPDX-License-Identifier: Apache-2.0

import YKProtocols
import YKWire

extension WebAuthnClient {
    /// Creates a credential (`navigator.credentials.create()`, WebAuthn Level 3 §5.1.3): requests the PIN if it is
    /// required, then waits for a touch.
    ///
    /// If a discoverable credential is only preferred, a key without room creates a non-discoverable one after another
    /// touch; ``RegistrationResponse/isResident`` says which.
    ///
    /// With `clientDataHash`, 32 bytes, another program wrote the client data, and the response contains none.
    public func create(
        _ options: PublicKeyCredentialCreationOptions, clientDataHash: [UInt8]? = nil
    ) async throws(WebAuthnError) -> RegistrationResponse {
        let rpID = try origin.relyingPartyID(options.rpID)
        let data = try clientData(.create, options.challenge, hash: clientDataHash)
        let info = try await info()
        let ceremony = CreationCeremony(
            options: options, rpID: rpID, origin: origin, info: info, service: service)
        let made = try await register(
            ceremony, data.hash, isResident: options.selection.residentKey.isResident(info))
        try made.response.authenticatorData.check(options.selection.userVerification, true)
        var results = JSONValue.Object()
        for part in extensions { try await part.finish(&results, made, ceremony) }
        return RegistrationResponse(
            clientDataJSON: data.bytes,
            attestationObject: made.response.attestationObject.conveyed(options.attestation),
            transports: await transports(info), attachment: Self.attachment(info), clientExtensionResults: results,
            isResident: made.isResident, isEnterpriseAttestation: made.response.isEnterpriseAttestation)
    }

    /// Creates the credential on the key. A CTAP 2.0 key does not report its remaining capacity, and a later one only
    /// estimates it, so that lack of room may only show now (CTAP 2.2 §6.1.2, CTAP2_ERR_KEY_STORE_FULL).
    private func register(
        _ ceremony: CreationCeremony, _ hash: [UInt8], isResident: Bool
    ) async throws(WebAuthnError) -> Registration {
        var draft = try request(ceremony, hash)
        draft.isResident = isResident
        draft.excludeList = ceremony.options.excludeCredentials.descriptors(preferring: await transports(ceremony.info))
        for part in extensions { try part.prepare(&draft, ceremony) }
        let request = draft
        do { return try await asking { () async throws(FIDOError) in try await service.register(request) } } catch {
            let isOptional = ceremony.options.selection.residentKey == .preferred
            guard case .key(.full) = error, isResident, isOptional else { throw error }
            do { return try await register(ceremony, hash, isResident: false) } catch .key(.unsupported) { throw error }
        }
    }

    private func request(
        _ ceremony: CreationCeremony, _ hash: [UInt8]
    ) throws(WebAuthnError) -> RegistrationRequest {
        let (options, info) = (ceremony.options, ceremony.info)
        if let wanted = options.selection.attachment, wanted != Self.attachment(info),
            [.platform, .crossPlatform].contains(wanted)
        {
            throw .key(.unsupported("plat"))
        }
        var request = RegistrationRequest(
            clientDataHash: hash, relyingParty: RelyingParty(id: ceremony.rpID, name: options.rpName),
            user: options.user)
        request.algorithms = try options.algorithms()
        request.userVerification = options.selection.userVerification
        request.usesU2F = usesU2F
        request.timeout = Self.timeout(options.timeout)
        if options.attestation == .enterprise, info?.option(.ep) == true {
            request.enterpriseAttestation = managedRelyingParties.contains(ceremony.rpID) ? 2 : 1
        }
        if info?.map[CTAPProtocol.GetInfo.Reply.attestationFormats] != nil {
            request.attestationFormats =
                options.attestation == .none && info?.attestationFormats.contains(.none) == true
                ? [.none] : options.attestationFormats
        }
        return request
    }
}

extension PublicKeyCredentialCreationOptions {
    /// The algorithms of public-key credentials; the specification's defaults if none are given (§5.1.3).
    func algorithms() throws(WebAuthnError) -> [COSEAlgorithm] {
        guard !parameters.isEmpty else { return [.es256, .rs256] }
        let known = parameters.filter { $0.type == CredentialDescriptor.publicKey }.map(\.algorithm)
        guard !known.isEmpty else { throw .noKnownAlgorithm }
        return known
    }
}

extension ResidentKeyRequirement {
    /// Returns whether to request a discoverable credential: if preferred, only when the key supports it and has room.
    func isResident(_ info: AuthenticatorInfo?) -> Bool {
        switch self {
        case .required: true
        case .discouraged: false
        case .preferred: info?.option(.rk) == true && info?.remainingCredentials != 0
        }
    }
}

extension AttestationObject {
    /// The attestation object as requested by the relying party (WebAuthn Level 3 §5.1.3): for `none`, the attestation
    /// is removed unless it is a self attestation.
    func conveyed(_ conveyance: AttestationConveyance) -> AttestationObject {
        let aaguid = authenticatorData.credential?.aaguid ?? []
        let isSelf = format == .packed && statement["x5c"] == nil && aaguid.allSatisfy { $0 == 0 }
        guard conveyance == .none, !isSelf else { return self }
        return AttestationObject(format: .none, authenticatorData: authenticatorData, statement: CBOR.Map())
    }
}
