// SPDX-License-Identifier: Apache-2.0

import YKCrypto

extension FIDOService {
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
