// SPDX-License-Identifier: Apache-2.0

public import YKFIDO
import YKWire

/// A verified authentication.
public struct VerifiedAuthentication: Sendable {
    /// The credential with the updated signature counter and backup state, to be stored again.
    public let record: CredentialRecord
    /// Whether the user was verified.
    public let isUserVerified: Bool
    /// Whether the signature counter did not increase: the authenticator may have been cloned. Set only if the relying
    /// party reports this instead of refusing it; the stored counter is then unchanged.
    public let hasOldCounter: Bool
    /// Whether the credential is a U2F credential for the AppID.
    public let usedAppID: Bool
    /// largeBlob: the bytes stored with the credential, if they were read.
    public let largeBlob: [UInt8]?
    /// thirdPartyPayment: whether other sites may use the credential for payments; `nil` if the authenticator does not report it.
    public let allowsThirdPartyPayment: Bool?
    /// previewSign: the requested signature, DER, by the key made with the credential. Verify it with that key, or the
    /// one derived from it. Experimental.
    public let signature: [UInt8]?
}

extension WebAuthnRelyingParty {
    /// Starts an authentication (WebAuthn Level 3 §7.2 step 1).
    ///
    /// - Parameters:
    ///   - user: The user handle of the account, if it is known who is signing in.
    ///   - session: The identifier of the browser's session at the program's web server.
    ///   - credentials: The allowed credentials; empty for any that the authenticator discovers.
    ///   - requirements: The requirements for the credential.
    /// - Returns: The options for the client, and the ceremony's token.
    /// - Throws: `tooManyCeremonies` or `store`.
    public func beginAuthentication(
        of user: [UInt8]? = nil, session: String, allowing credentials: [CredentialRecord] = [],
        _ requirements: AuthenticationRequirements = AuthenticationRequirements()
    ) async throws(CeremonyError) -> BegunCeremony<PublicKeyCredentialRequestOptions> {
        let (options, ceremony) = try authentication(of: user, session: session, allowing: credentials, requirements)
        return BegunCeremony(options: options, token: try await keep(ceremony))
    }

    /// Returns the options of an authentication, and the state needed to verify the answer.
    ///
    /// - Throws: `store` if no random bytes are available.
    package func authentication(
        of user: [UInt8]?, session: String, allowing credentials: [CredentialRecord],
        _ requirements: AuthenticationRequirements
    ) throws(CeremonyError) -> (options: PublicKeyCredentialRequestOptions, ceremony: Ceremony) {
        var ceremony = try ceremony(.authentication, session: session)
        ceremony.user = user
        ceremony.userVerification = requirements.userVerification
        ceremony.allowedCredentials = credentials.map(\.id)
        ceremony.extensions = requirements.extensions.json
        var options = PublicKeyCredentialRequestOptions(
            rpID: id, challenge: ceremony.challenge, allowCredentials: credentials.map(\.descriptor))
        options.timeout = limitedTimeout
        options.userVerification = requirements.userVerification
        options.hints = requirements.hints
        options.extensions = ceremony.extensions
        return (options, ceremony)
    }

    /// Finishes an authentication by verifying the client's answer (WebAuthn Level 3 §7.2 steps 3 to 24).
    ///
    /// - Parameters:
    ///   - answer: AuthenticationResponseJSON.
    ///   - token: The token of the ceremony, which is used up whether or not verification succeeds.
    ///   - session: The identifier of the browser's session.
    ///   - find: Looks up a credential's record by its identifier, in any account.
    /// - Returns: The record to be stored again, and how the user signed in.
    /// - Throws: The error of the first step that fails.
    public func finishAuthentication(
        _ answer: [UInt8], token: String, session: String,
        find: @Sendable (_ id: [UInt8]) async throws -> CredentialRecord?
    ) async throws(CeremonyError) -> VerifiedAuthentication {
        let ceremony = try await take(token, .authentication, session: session)
        let response: AuthenticationResponse
        do { response = try AuthenticationResponse(parsing: answer) } catch { throw .malformed(error) }
        if !ceremony.allowedCredentials.isEmpty, !ceremony.allowedCredentials.contains(response.id) {
            throw .credentialNotAllowed
        }
        let record: CredentialRecord?
        do { record = try await find(response.id) } catch { throw CeremonyError(error) }
        guard let record, record.id == response.id else { throw .unknownCredential }
        return try verify(response, record, ceremony)
    }

    /// Verifies an answer from step 6 on. The consistency of the backup flags (step 18) is checked when the answer is
    /// parsed.
    package func verify(
        _ response: AuthenticationResponse, _ record: CredentialRecord, _ ceremony: Ceremony
    ) throws(CeremonyError) -> VerifiedAuthentication {
        guard let user = ceremony.user ?? response.userHandle else { throw .noUserHandle }
        guard record.user == user, response.userHandle == nil || response.userHandle == user else { throw .otherUser }
        let client = try check(response.clientDataJSON, ceremony.payment == nil ? .get : .payment, ceremony)
        let data = response.authenticatorData
        let appID = ceremony.extensions["appid"]?.string
        let usesAppID = appID != nil && response.clientExtensionResults["appid"]?.bool == true
        let rpID = usesAppID ? appID ?? id : id
        do { try data.check(rpID: rpID, presence: true, verification: ceremony.userVerification == .required) } catch {
            throw CeremonyError(data: error)
        }
        let isOld = try record.hasOldCounter(after: data)
        do {
            try AssertionVerification(rpID: rpID, publicKey: record.publicKey).check(
                data, signature: response.signature, clientDataHash: client.hash)
        } catch { throw .signature(error) }
        if isOld, refusesOldCounters { throw .counter(stored: record.signCount, received: data.counter) }
        let blob = response.clientExtensionResults["largeBlob"]
        if ceremony.extensions["largeBlob"]?["write"] != nil, blob?["written"]?.bool != true {
            throw .extension("largeBlob")
        }
        let signature = ceremony.extensions["previewSign"] == nil ? nil : data.previewSignature
        if ceremony.extensions["previewSign"] != nil, signature == nil { throw .extension("previewSign") }
        let allowsPayments = data.extensions?["thirdPartyPayment"]?.bool
        if let payment = ceremony.payment {
            guard client.states(payment, rpID: id), allowsPayments != false || origins.contains(client.origin) else {
                throw .extension("payment")
            }
        }
        var updated = record
        if !isOld { updated.signCount = data.counter }
        updated.isBackedUp = data.flags.contains(.backedUp)
        return VerifiedAuthentication(
            record: updated, isUserVerified: data.flags.contains(.userVerified), hasOldCounter: isOld,
            usedAppID: usesAppID, largeBlob: blob?["blob"]?.string.flatMap { try? Base64.decode($0) },
            allowsThirdPartyPayment: allowsPayments, signature: signature)
    }
}
