// SPDX-License-Identifier: Apache-2.0

import YKProtocols
import YKTransport
import YKWire

/// A browser's `navigator.credentials` for one key: takes a relying party's options and returns the key's response
/// (WebAuthn Level 3 §5.1).
///
/// Keys without CTAP2 are used with U2F. The origin and the extension inputs are validated before anything is sent to
/// the key.
public struct WebAuthnClient: Sendable {
    /// The key.
    public let service: FIDOService
    /// The caller's origin.
    public var origin: Origin
    /// The outermost page's origin, if the caller is embedded in a page of another origin.
    public var topOrigin: Origin?
    /// The extensions that the client supports.
    public var extensions: [any ClientExtension] = StandardExtensions.all
    /// Whether to use U2F although the key supports CTAP2.
    public var usesU2F = false
    /// The relying parties that get platform-managed enterprise attestation; others get the vendor-facilitated kind.
    public var managedRelyingParties: Set<String> = []

    /// Maximum timeout of a ceremony, whatever the options say.
    public static let longestTimeout = Duration.seconds(600)

    /// Creates a client for a key and an origin.
    public init(service: FIDOService, origin: Origin) {
        self.service = service
        self.origin = origin
    }

    /// Sends the messages of a ceremony, and lifts the error.
    func asking<Value: Sendable>(
        _ body: () async throws(FIDOError) -> Value
    ) async throws(WebAuthnError) -> Value {
        do { return try await body() } catch { throw WebAuthnError(error) }
    }

    /// The key's capabilities; `nil` with U2F.
    func info() async throws(WebAuthnError) -> AuthenticatorInfo? {
        guard !usesU2F, await service.hasCTAP2 else { return nil }
        return try await asking { () async throws(FIDOError) in try await service.info() }
    }

    func clientData(
        _ type: ClientData.Kind, _ challenge: [UInt8], hash: [UInt8]?
    ) throws(WebAuthnError) -> ClientDataSource {
        guard let hash else {
            return .text(
                ClientData(
                    type, challenge: challenge, origin: origin.description, crossOrigin: topOrigin != nil,
                    topOrigin: topOrigin?.description))
        }
        guard hash.count == 32 else { throw .member("clientDataHash", problem: "\(hash.count) bytes, expected 32") }
        return .hash(hash)
    }

    /// The timeout of a ceremony with these options.
    static func timeout(_ wanted: Duration?) -> Duration? { wanted.map { min($0, longestTimeout) } }

    /// Whether the key is built into the computer.
    static func attachment(_ info: AuthenticatorInfo?) -> AuthenticatorAttachment {
        info?.option(.plat) == true ? .platform : .crossPlatform
    }

    /// The key's transports: those it reports, otherwise the one in use.
    func transports(_ info: AuthenticatorInfo?) async -> [AuthenticatorTransport] {
        let said = info?.transports.map(AuthenticatorTransport.init(rawValue:)) ?? []
        guard said.isEmpty else { return said }
        return await service.profile.carrier == .hid ? [.usb] : []
    }
}

extension AuthenticatorData {
    /// Refuses a response that lacks required user presence or verification.
    func check(_ verification: UserVerification, _ requiresPresence: Bool) throws(WebAuthnError) {
        if requiresPresence, !flags.contains(.userPresent) { throw .key(.verification(.noPresence)) }
        if verification == .required, !flags.contains(.userVerified) {
            throw .key(.verification(.noUserVerification))
        }
    }
}

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

/// The client data of a ceremony: the whole JSON, or only its hash if another program wrote it.
public enum ClientDataSource: Hashable, Sendable {
    /// The JSON.
    case text(ClientData)
    /// SHA-256 of unknown JSON, 32 bytes.
    case hash([UInt8])

    /// SHA-256 of the JSON.
    public var hash: [UInt8] {
        switch self {
        case .text(let data): data.hash
        case .hash(let hash): hash
        }
    }

    /// The JSON in UTF-8, if known.
    public var bytes: [UInt8]? { if case .text(let data) = self { data.bytes } else { nil } }
}
