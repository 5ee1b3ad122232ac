// SPDX-License-Identifier: Apache-2.0

public import YKCrypto
public import YKFIDO
import YKWire

extension ArculusCard {
    /// Creates a credential for options of a server; the user is verified by the PIN, whatever the options say.
    ///
    /// With `newPIN` the card is reset first, which erases all its credentials, and gets this PIN. Otherwise a
    /// credential that the card stores for the same account is replaced only if ``allowsReplacing`` agrees.
    public func register(
        _ options: PublicKeyCredentialCreationOptions, origin: Origin, pin: ArculusPIN,
        afterResetTo newPIN: SharedSecret? = nil
    ) async throws(ArculusError) -> RegistrationResponse {
        var wanted = options
        wanted.selection.userVerification = .required
        if let newPIN { try ArculusPIN.checkNew(newPIN) }
        let guarded = PINGuard(try newPIN.map { secret throws(ArculusError) in try ArculusPIN(secret) } ?? pin)
        var isReset = newPIN == nil
        return try await session(guarded) { service throws(ArculusError) in
            if let newPIN { try await Self.reset(service, to: newPIN, &isReset) }
            if newPIN == nil { try await checkReplacing(wanted, origin, service) }
            let client = WebAuthnClient(service: service, origin: origin)
            do throws(WebAuthnError) { return try await client.create(wanted) } catch {
                throw .card(error, during: .registering)
            }
        }
    }

    /// Refuses to replace a credential without the user's agreement.
    private func checkReplacing(
        _ options: PublicKeyCredentialCreationOptions, _ origin: Origin, _ service: FIDOService
    ) async throws(ArculusError) {
        guard options.selection.residentKey != .discouraged else { return }
        let rpID: String
        do { rpID = try origin.relyingPartyID(options.rpID) } catch { throw .card(error, during: .registering) }
        let replaced = try await during(.registering) { () async throws(FIDOError) in
            try await service.replacement(for: rpID, userID: options.user.id)
        }
        if case .credential(let found) = replaced, !options.excludeCredentials.contains(where: { $0.id == found.id }),
            !allowsReplacing(options.user, rpID)
        {
            throw .card(.key(.denied), during: .registering)
        }
    }

    /// Requests an assertion for a server's options; the user is verified by the PIN, whatever the options say.
    ///
    /// If the options list no credential and the card has several, `username` selects one.
    public func authenticate(
        _ options: PublicKeyCredentialRequestOptions, username: String?, origin: Origin, pin: ArculusPIN
    ) async throws(ArculusError) -> AuthenticationResponse {
        var wanted = options
        wanted.userVerification = .required
        return try await session(PINGuard(pin)) { service throws(ArculusError) in
            let client = WebAuthnClient(service: service, origin: origin)
            do throws(WebAuthnError) {
                return try await client.get(wanted) { found in
                    guard let username else { return 0 }
                    return found.firstIndex { $0.response.user?.name == username }
                }
            } catch {
                throw .card(error, during: .authenticating)
            }
        }
    }

    /// Creates a credential without a server (the SDK's registerCardOnly), with client data of this challenge and
    /// origin. The response is for the issuer of the challenge.
    public func registerCardOnly(
        pin: ArculusPIN, username: String, displayName: String, rpID: String, challenge: [UInt8], origin: Origin,
        isResident: Bool = false
    ) async throws(ArculusError) -> RegistrationResponse {
        let name = Array(username.utf8)
        let user = FIDOUser(
            id: (1...64).contains(name.count) ? name : HashAlgorithm.sha256.hash(name), name: username,
            displayName: displayName)
        var options = PublicKeyCredentialCreationOptions(rpID: rpID, rpName: rpID, user: user, challenge: challenge)
        options.selection.residentKey = isResident ? .required : .discouraged
        options.attestation = .direct
        return try await register(options, origin: origin, pin: pin)
    }

    /// Requests an assertion without a server (the SDK's authenticateCardOnly), with client data of the options'
    /// challenge and this origin.
    public func authenticateCardOnly(
        pin: ArculusPIN, username: String?, rpID: String, options: PublicKeyCredentialRequestOptions, origin: Origin
    ) async throws(ArculusError) -> AuthenticationResponse {
        guard options.rpID == nil || options.rpID == rpID else {
            throw .reply("the options are for '\(options.rpID ?? "")', not for '\(rpID)'")
        }
        var wanted = options
        wanted.rpID = rpID
        return try await authenticate(wanted, username: username, origin: origin, pin: pin)
    }
}
