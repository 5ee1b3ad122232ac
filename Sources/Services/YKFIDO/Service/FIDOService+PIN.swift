// SPDX-License-Identifier: Apache-2.0

public import YKCrypto
import YKTransport
import YKWire

extension FIDOService {
    /// Reads the number of PIN retries (clientPIN getPINRetries).
    public func pinRetries() throws(FIDOError) -> PINRetries { try session.pinRetries() }

    /// Reads the number of PIN retries; `nil` if the key does not report it.
    ///
    /// - Throws: errors that leave the key unable to answer further commands (``FIDOError/endsSession``).
    public func pinRetriesIfTold() throws(FIDOError) -> PINRetries? { try session.pinRetriesIfTold() }

    /// Reads the number of PIN retries before a PIN is requested. A key that does not report it is not given a PIN.
    ///
    /// - Throws: `pinBlocked` and `pinNeedsPowerCycle` if no PIN can be tried.
    public func usablePINRetries() throws(FIDOError) -> PINRetries { try session.usablePINRetries() }

    /// Reads the number of user verification retries (clientPIN getUVRetries).
    public func uvRetries() throws(FIDOError) -> Int {
        try session.send(ClientPIN.GetUVRetries(try session.pinProtocol()))
    }

    /// Reads the number of user verification retries; `nil` if the key does not report it.
    public func uvRetriesIfTold() throws(FIDOError) -> Int? {
        try session.ifTold { () throws(FIDOError) in
            try session.send(ClientPIN.GetUVRetries(try session.pinProtocol()))
        }
    }

    /// Sets the first PIN (clientPIN setPIN).
    ///
    /// - Throws: `unsuitablePIN` before anything is sent, `pinAlreadySet`.
    public func setPIN(_ new: SharedSecret) throws(FIDOError) { try session.setPIN(new.value) }

    /// Changes the PIN (clientPIN changePIN).
    ///
    /// - Throws: `wrongPIN` with the remaining retries.
    public func changePIN(from old: SharedSecret, to new: SharedSecret) throws(FIDOError) {
        try session.changePIN(from: old.value, to: new.value)
    }

    /// Verifies a PIN and does nothing else; a wrong one uses up a retry. The token is kept for the next operation that
    /// it permits.
    public func verifyPIN(
        _ pin: SharedSecret, permissions: ClientPIN.Permissions = .getAssertion, rpID: String? = nil
    ) throws(FIDOError) {
        let needsRP = permissions.contains(.getAssertion) || permissions.contains(.makeCredential)
        let bound = needsRP ? rpID ?? "ykit.invalid" : rpID
        session.token = try session.token(for: pin.value, permissions, rpID: bound)
    }

    /// Requests a token that survives a power cycle and only permits listing credentials (permission pcmr, CTAP 2.2
    /// §6.5.5.7). From then on credentials are listed with it.
    ///
    /// - Throws: `unsupported` if the key has no such token.
    public func persistentToken() throws(FIDOError) -> FIDOToken {
        try session.requirePersistentTokens()
        return try session.access(.persistentCredentialManagementReadOnly, rpID: nil)
    }

    /// Returns whether the key accepts a persistent token, which it no longer does once its PIN has been changed.
    ///
    /// - Parameter token: A token from this or another key; only persistent ones can be accepted.
    /// - Throws: `unsupported` if the key has no such token.
    public func accepts(_ token: FIDOToken) throws(FIDOError) -> Bool {
        try session.requirePersistentTokens()
        guard token.isPersistent else { return false }
        let request = CredentialManagementRequest.metadata
        let code = try session.credentialManagementCode()
        do {
            _ = try session.send(request.command(code, token.auth(over: request.authenticated)))
            return true
        } catch .ctap(.status(.pinAuthInvalid, _)) {
            return false
        }
    }

    /// Uses a token issued earlier, as long as it covers the operation and the key accepts it.
    public func use(_ token: FIDOToken) {
        if token.isPersistent { session.persistentToken = token } else { session.token = token }
    }
}

extension FIDOSession {
    fileprivate func requirePersistentTokens() throws(FIDOError) {
        guard try info().option(.perCredMgmtRO) == true else { throw .unsupported("perCredMgmtRO") }
    }
}

extension AuthenticatorInfo {
    /// The identifier of the individual key, 16 bytes, which only the holder of a persistent token can decrypt (CTAP
    /// 2.2 §6.4, encIdentifier); `nil` if the key does not report one, or it is not encrypted for this token.
    public func identifier(for token: FIDOToken) -> [UInt8]? {
        Self.decrypt(encryptedIdentifier, token, "encIdentifier")
    }

    /// The state of the stored credentials, 16 bytes that change with them (CTAP 2.3 §6.4, encCredStoreState).
    public func credentialStoreState(for token: FIDOToken) -> [UInt8]? {
        Self.decrypt(encryptedStoreState, token, "encCredStoreState")
    }

    private static func decrypt(_ message: [UInt8]?, _ token: FIDOToken, _ info: String) -> [UInt8]? {
        guard let message, message.count == 32 else { return nil }
        let salt = [UInt8](repeating: 0, count: 32)
        let key = try? HashAlgorithm.sha256.hkdf(token.secret.value, salt: salt, info: Array(info.utf8), length: 16)
        guard let key else { return nil }
        return try? AESCBC.decrypt(
            Array(message.dropFirst(16)), key: key, initialisationVector: Array(message.prefix(16)))
    }
}

extension FIDOService {
    /// Returns whether the key reports, without touch and user verification, that a credential is its own (getAssertion
    /// with up:false, CTAP 2.2 §6.1.1, or U2F AUTHENTICATE, check only). Nothing is signed for use.
    ///
    /// A key does not report credentials of protection level 3 (`userVerificationRequired`) in this way.
    ///
    /// - Parameters:
    ///   - credential: The credential's identifier.
    ///   - rpID: The relying party, or the application of U2F.
    /// - Throws: `FIDOError` when the key cannot be asked.
    public func owns(_ credential: [UInt8], rpID: String) throws(FIDOError) -> Bool {
        if session.isCTAP2 { return try session.has([CredentialDescriptor(id: credential)], for: rpID) }
        guard credential.count <= 255 else { return false }
        return try u2fKnows(keyHandle: credential, applicationHash: HashAlgorithm.sha256.hash(rpID.utf8))
    }

    /// Makes the key blink (CTAPHID_WINK).
    ///
    /// - Throws: `unsupported` if the key cannot, `notCarried` if it is reached as a card.
    public func wink() throws(FIDOError) {
        let profile = session.ctap.link.profile
        guard profile.carrier != .hid || profile.canWink else { throw .unsupported("wink") }
        do { _ = try session.ctap.call(.wink, []) } catch { throw .ctap(error) }
    }
}
