// SPDX-License-Identifier: Apache-2.0

public import YKFIDO
import YKTransport
public import YKWire

/// A verified registration.
public struct VerifiedRegistration: Sendable {
    /// The record that the program must store.
    public let record: CredentialRecord
    /// The trust in the credential that its attestation established.
    public let trust: AttestationVerification.Trust
    /// The format of the attestation statement.
    public let format: AttestationFormat
    /// The model's entry in the metadata, if metadata was used.
    public let model: MetadataEntry?
    /// The results of extensions.
    public let extensions: RegistrationOutputs
    /// previewSign: the verified key that signs arbitrary data, to be stored with the credential; `nil` if none was requested
    /// or made. Experimental.
    public let signingKey: PreviewSign.GeneratedKey?
}

/// The results of extensions when a credential was created.
public struct RegistrationOutputs: Hashable, Sendable {
    /// credProps: whether the credential is discoverable; `nil` if the client does not report it.
    public let isDiscoverable: Bool?
    /// prf: whether the credential can derive secrets.
    public let hasPRF: Bool?
    /// largeBlob: whether bytes can be stored with the credential.
    public let hasLargeBlob: Bool?
    /// credProtect: when the credential can be used without user verification, as signed by the authenticator.
    public let protection: CredentialProtection?
    /// minPinLength, as signed by the authenticator.
    public let minPINLength: UInt64?

    init(_ response: RegistrationResponse) {
        let results = response.clientExtensionResults
        let signed = response.attestationObject.authenticatorData.extensions
        isDiscoverable = results["credProps"]?["rk"]?.bool
        hasPRF = results["prf"]?["enabled"]?.bool
        hasLargeBlob = results["largeBlob"]?["supported"]?.bool
        protection = signed?["credProtect"]?.unsigned.map(CredentialProtection.init(rawValue:))
        minPINLength = signed?["minPinLength"]?.unsigned
    }
}

extension WebAuthnRelyingParty {
    /// Starts a registration (WebAuthn Level 3 §7.1 step 1).
    ///
    /// - Parameters:
    ///   - user: The account; its identifier is 1 to 64 random bytes that reveal nothing about the user.
    ///   - session: The identifier of the browser's session at the program's web server.
    ///   - known: The credentials that the account already has.
    ///   - requirements: The requirements for the credential.
    /// - Returns: The options for the client, and the ceremony's token.
    /// - Throws: `malformed` for a user handle of invalid length, `tooManyCeremonies` or `store`.
    public func beginRegistration(
        of user: FIDOUser, session: String, excluding known: [CredentialRecord] = [],
        _ requirements: RegistrationRequirements = RegistrationRequirements()
    ) async throws(CeremonyError) -> BegunCeremony<PublicKeyCredentialCreationOptions> {
        let (options, ceremony) = try registration(of: user, session: session, excluding: known, requirements)
        return BegunCeremony(options: options, token: try await keep(ceremony))
    }

    /// Returns the options of a registration, and the state needed to verify the answer.
    ///
    /// - Throws: `malformed` for a user handle of invalid length, `store` if no random bytes are available.
    package func registration(
        of user: FIDOUser, session: String, excluding known: [CredentialRecord],
        _ requirements: RegistrationRequirements
    ) throws(CeremonyError) -> (options: PublicKeyCredentialCreationOptions, ceremony: Ceremony) {
        guard (1...64).contains(user.id.count) else {
            throw .malformed(.member("user.id", problem: "\(user.id.count) bytes, expected 1 to 64"))
        }
        var ceremony = try ceremony(.registration, session: session)
        ceremony.user = user.id
        ceremony.userVerification = requirements.selection.userVerification
        ceremony.isConditional = requirements.isConditional
        ceremony.algorithms = requirements.algorithms
        ceremony.extensions = requirements.extensions.json
        var options = PublicKeyCredentialCreationOptions(
            rpID: id, rpName: name, user: user, challenge: ceremony.challenge)
        options.parameters = requirements.algorithms.map { CredentialParameters($0) }
        options.timeout = limitedTimeout
        options.excludeCredentials = known.map(\.descriptor)
        options.selection = requirements.selection
        options.hints = requirements.hints
        options.attestation =
            requirements.wantsEnterpriseAttestation ? .enterprise : attestation.conveyance
        options.attestationFormats = requirements.attestationFormats
        options.extensions = ceremony.extensions
        return (options, ceremony)
    }

    /// Finishes a registration by verifying the client's answer (WebAuthn Level 3 §7.1 steps 3 to 27).
    ///
    /// - Parameters:
    ///   - answer: RegistrationResponseJSON.
    ///   - token: The token of the ceremony, which is used up whether or not verification succeeds.
    ///   - session: The identifier of the browser's session.
    ///   - isRegistered: Returns whether any account has a credential with this identifier.
    /// - Returns: The credential to be stored with the account, and information about it.
    /// - Throws: The error of the first step that fails.
    public func finishRegistration(
        _ answer: [UInt8], token: String, session: String,
        isRegistered: @Sendable (_ id: [UInt8]) async throws -> Bool
    ) async throws(CeremonyError) -> VerifiedRegistration {
        let ceremony = try await take(token, .registration, session: session)
        let response: RegistrationResponse
        do { response = try RegistrationResponse(parsing: answer) } catch { throw .malformed(error) }
        let verified = try verify(response, ceremony)
        let isKnown: Bool
        do { isKnown = try await isRegistered(response.id) } catch { throw CeremonyError(error) }
        if isKnown { throw .alreadyRegistered }
        return verified
    }

    /// Verifies an answer except for step 26, which requires the program's database. The length of the identifier (step
    /// 25) and the consistency of the backup flags (step 17) are checked when the answer is parsed.
    package func verify(
        _ response: RegistrationResponse, _ ceremony: Ceremony
    ) throws(CeremonyError) -> VerifiedRegistration {
        let client = try check(response.clientDataJSON, .create, ceremony)
        let object = response.attestationObject
        let data = object.authenticatorData
        do {
            try data.check(
                rpID: id, presence: !ceremony.isConditional, verification: ceremony.userVerification == .required)
        } catch { throw CeremonyError(data: error) }
        if requiresDeviceBound, data.flags.contains(.backupEligible) { throw .backupEligible }
        guard let credential = data.credential else { throw .attestation(.malformedStatement("no credential")) }
        guard let algorithm = credential.publicKey.algorithm, ceremony.algorithms.contains(algorithm) else {
            throw .algorithm(credential.publicKey.algorithm)
        }
        var check = AttestationVerification(rpID: id)
        check.requiresPresence = false
        check.allowsSHA1 = allowsSHA1
        check.clock = environment.clock
        let (trust, model) = try attestation.assess(object, client.hash, check)
        let outputs = RegistrationOutputs(response)
        try Self.check(outputs, ceremony.extensions)
        let record = CredentialRecord(
            credential, data, user: ceremony.user ?? [], transports: response.transports)
        return VerifiedRegistration(
            record: record, trust: trust, format: object.format, model: model, extensions: outputs,
            signingKey: try signingKey(response, ceremony, client.hash, check, model))
    }

    /// Refuses a credential whose extensions did not meet the requirements. Unrequested outputs are ignored.
    private static func check(_ outputs: RegistrationOutputs, _ inputs: JSONValue.Object) throws(CeremonyError) {
        if inputs["enforceCredentialProtectionPolicy"]?.bool == true,
            let wanted = inputs["credentialProtectionPolicy"]?.string.flatMap(CredentialProtection.init(name:)),
            (outputs.protection?.rawValue ?? 0) < wanted.rawValue
        {
            throw .extension("credProtect")
        }
        if inputs["largeBlob"]?["support"]?.string == "required", outputs.hasLargeBlob != true {
            throw .extension("largeBlob")
        }
    }
}
