// SPDX-License-Identifier: Apache-2.0

public import YKCrypto
import YKTransport

extension FIDOSession {
    /// Returns a token with these permissions: the current one, one from built-in user verification, or one from the
    /// PIN.
    ///
    /// If built-in user verification fails or is blocked, the PIN is requested, once; `fallback` says why it failed if
    /// it has already been tried.
    func access(
        _ permissions: ClientPIN.Permissions, rpID: String?, after fallback: PINRequest.Fallback? = nil
    ) throws(FIDOError) -> FIDOToken {
        let generation = ctap.link.generation
        if let token, token.covers(permissions, rpID: rpID, generation: generation) { return token }
        let info = try info()
        var fallback = fallback
        if fallback == nil, info.givesTokenForUV, permissions.canComeFromUV(info) {
            do { return keep(try tokenUsingUV(permissions, rpID: rpID)) } catch {
                fallback = PINRequest.Fallback(error)
                guard fallback != nil, permissions.canComeFromPIN(info) else { throw error }
            }
        }
        return keep(try tokenUsingPIN(permissions, rpID: rpID, fallback))
    }

    private func tokenUsingPIN(
        _ permissions: ClientPIN.Permissions, rpID: String?, _ fallback: PINRequest.Fallback?
    ) throws(FIDOError) -> FIDOToken {
        let info = try info()
        guard info.hasPIN else { throw info.takesPIN ? .pinNotSet : .unsupported("clientPin") }
        guard !info.mustChangePIN else { throw .pinChangeForced }
        let retries = interaction.hasPIN ? nil : try usablePINRetries()
        let request = PINRequest(permissions: permissions, rpID: rpID, retries: retries, fallback: fallback)
        guard let pin = try ask(request) else { throw .pinNeeded }
        do {
            let token = try token(for: pin.value, permissions, rpID: rpID)
            interaction.pinOutcome(nil)
            return token
        } catch {
            interaction.pinOutcome(error)
            throw error
        }
    }

    private func ask(_ request: PINRequest) throws(FIDOError) -> SharedSecret? {
        let pin = interaction.pin
        do { return try ServiceRuntime.ask(ctap.environment.cancellation) { await pin(request) } } catch {
            throw .ctap(.link(.device(error)))
        }
    }

    private func keep(_ token: FIDOToken) -> FIDOToken {
        tokensGiven += 1
        if token.isPersistent { persistentToken = token } else { self.token = token }
        return token
    }

    /// Runs an operation that needs a token. A token of an earlier operation may have expired, or been invalidated by a
    /// token of another program: the operation is then run once more with a new one.
    func withAccess<Value>(_ body: () throws(FIDOError) -> Value) throws(FIDOError) -> Value {
        let (hadToken, given) = (token != nil, tokensGiven)
        do { return try body() } catch {
            guard error.saysTokenIsWorthless else { throw error }
            token = nil
            guard hadToken, tokensGiven == given else { throw error }
            return try body()
        }
    }

    /// Sends a command with a proof over these bytes.
    ///
    /// A key with neither PIN nor user verification configured needs no proof. Some keys require one anyway, and
    /// report that with different codes (CanoKey: 33 for large blobs, 36 for credentials): a PIN must then be set.
    func authorized<Value>(
        over message: [UInt8], _ permissions: ClientPIN.Permissions,
        _ body: (PINUVAuth?) throws(FIDOError) -> Value
    ) throws(FIDOError) -> Value {
        try withAccess { () throws(FIDOError) in
            let auth = try proof(over: message, permissions)
            do throws(FIDOError) { return try body(auth) } catch {
                guard auth == nil, error.wantsProof, try info().takesPIN else { throw error }
                throw .pinNotSet
            }
        }
    }

    /// The proof for a command over these bytes; `nil` on a key with neither PIN nor user verification configured.
    private func proof(
        over message: [UInt8], _ permissions: ClientPIN.Permissions
    ) throws(FIDOError) -> PINUVAuth? {
        let info = try info()
        guard info.hasPIN || info.givesTokenForUV else { return nil }
        return try access(permissions, rpID: nil).auth(over: message)
    }
}

extension FIDOError {
    /// Whether the key refused a proof made with a token. An error from clientPIN does not count, so that a PIN is
    /// never sent twice.
    fileprivate var saysTokenIsWorthless: Bool {
        guard case .ctap(.status(let status, let command)) = self, !command.hasPrefix("clientPIN") else { return false }
        return status == .pinAuthInvalid || status == .pinTokenExpired
    }

    /// Whether a key refused a command because it had no proof.
    fileprivate var wantsProof: Bool {
        switch self {
        case .pinNeeded: true
        case .ctap(.status(let status, _)): [.pinAuthInvalid, .missingParameter].contains(status)
        default: false
        }
    }
}

extension PINRequest.Fallback {
    /// Why the PIN is needed after built-in user verification failed with this error; `nil` if the PIN does not help.
    init?(_ error: FIDOError) {
        switch error {
        case .userNotRecognised: self = .notRecognised
        case .userVerificationBlocked: self = .blocked
        default: return nil
        }
    }

    /// The same for verification in a command, where CTAP has other statuses (CTAP 2.2 §6.1.2, §6.2.2): 27 for a user who
    /// was not recognized, 32 when no tries are left.
    init?(inCommand error: FIDOError) {
        switch error {
        case .denied: self = .notRecognised
        case .pinBlocked: self = .blocked
        default: self.init(error)
        }
    }
}

extension ClientPIN.Permissions {
    /// Whether the key grants these permissions for its PIN (CTAP 2.2 §6.4, noMcGaPermissionsWithClientPin).
    func canComeFromPIN(_ info: AuthenticatorInfo) -> Bool {
        let isCeremony = contains(.makeCredential) || contains(.getAssertion)
        return info.hasPIN && !(isCeremony && info.option(.noMcGaPermissionsWithClientPin) == true)
    }

    /// Whether the key grants these permissions for built-in user verification (CTAP 2.2 §6.5.5.7.3).
    fileprivate func canComeFromUV(_ info: AuthenticatorInfo) -> Bool {
        if contains(.persistentCredentialManagementReadOnly), info.hasPIN { return false }
        if contains(.bioEnrollment), info.option(.uvBioEnroll) != true { return false }
        if contains(.config), info.option(.uvAcfg) != true { return false }
        return true
    }
}

/// A token issued for a PIN or built-in user verification (pinUvAuthToken, CTAP 2.2 §6.5.5.7): valid for some
/// permissions and one relying party, until the key loses power or the token expires. A token that only permits listing
/// credentials (pcmr) is valid until the PIN changes.
public struct FIDOToken: Sendable {
    /// The token. Anyone who has it can use its permissions, so store it as carefully as a PIN.
    public let secret: SharedSecret
    /// The protocol it is used with.
    public let version: PINProtocol
    /// Its permissions; `nil` for a CTAP 2.0 token, which permits everything the key supports.
    public let permissions: ClientPIN.Permissions?
    /// The relying party it is bound to.
    public let rpID: String?
    /// The channel or application selection that it was issued on; `nil` for a token that outlasts these.
    let generation: Int?

    /// Restores a stored token; `nil` if the protocol has no tokens of this length.
    public init?(
        _ secret: SharedSecret, version: PINProtocol, permissions: ClientPIN.Permissions?, rpID: String? = nil
    ) {
        guard version.accepts(tokenOf: secret.value.count) else { return nil }
        self.init(secret: secret, version: version, permissions: permissions, rpID: rpID, generation: nil)
    }

    init(
        secret: SharedSecret, version: PINProtocol, permissions: ClientPIN.Permissions?, rpID: String?,
        generation: Int?
    ) {
        self.secret = secret
        self.version = version
        self.permissions = permissions
        self.rpID = rpID
        self.generation = permissions == .persistentCredentialManagementReadOnly ? nil : generation
    }

    /// Whether it survives a power cycle, and only permits listing credentials.
    var isPersistent: Bool { permissions == .persistentCredentialManagementReadOnly }

    /// Returns a proof over a message.
    func auth(over message: [UInt8]) -> PINUVAuth {
        PINUVAuth(parameter: version.authenticate(message, key: secret.value), version: version.rawValue)
    }

    /// Returns whether the token covers these permissions.
    func covers(_ wanted: ClientPIN.Permissions, rpID: String?, generation: Int) -> Bool {
        guard generation == self.generation ?? generation else { return false }
        guard let permissions else { return true }
        let isFree = wanted == .largeBlobWrite
        return permissions.isSuperset(of: wanted) && (self.rpID == rpID || isFree)
    }

    /// Returns the token with the permissions that remain after a use.
    func restricted(to permissions: ClientPIN.Permissions) -> FIDOToken {
        FIDOToken(
            secret: secret, version: version, permissions: permissions, rpID: rpID, generation: generation)
    }
}
