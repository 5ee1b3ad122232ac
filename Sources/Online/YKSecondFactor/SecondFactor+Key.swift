// SPDX-License-Identifier: Apache-2.0

public import YKCrypto
public import YKFIDO
import YKHTTP
public import YKPrivacyIDEA

/// The type of a registered FIDO2 credential.
public enum KeyFactor: Hashable, Sendable {
    /// A credential used after a user name.
    case webAuthn
    /// A credential stored on the key that identifies its user.
    case passkey
}

extension SecondFactor {
    /// Registers a key as a user's device (registerFingerPrint). The key verifies the user by PIN or fingerprint.
    ///
    /// - Parameters:
    ///   - key: The key, at the origin expected by the server; evaluated once the user may register one.
    ///   - device: The device's name; `nil` to let the server choose one.
    ///   - requiresPIN: Whether the user must already have a verified number or address.
    /// - Returns: The new factor.
    /// - Throws: `SecondFactorError`: `noVerifiedChannel`, `key`, `noSuchUser` or `server`; and the errors of `key`. An
    ///   incomplete registration is deleted.
    public func registerKey(
        _ user: String, _ key: @autoclosure () async throws -> WebAuthnClient, as factor: KeyFactor = .webAuthn,
        device: String? = nil, requiresPIN: Bool = true
    ) async throws -> Factor {
        if let device, device.isEmpty || device.count > 80 { throw SecondFactorError.invalid("device") }
        let known = try await tokens(of: user)
        if requiresPIN, !known.contains(where: { $0.isPIN && $0.isUsable }) {
            throw SecondFactorError.noVerifiedChannel
        }
        if let device, known.contains(where: { $0.isKey && $0.description == device }) {
            throw SecondFactorError.ambiguous([device])
        }
        return try await registered(user, try await key(), factor, device)
    }

    private func registered(
        _ user: String, _ key: WebAuthnClient, _ factor: KeyFactor, _ device: String?
    ) async throws(SecondFactorError) -> Factor {
        let begun = try await changing(.factors) { () async throws(ServerError) in
            try await server.startRegistration(user, realm: realm, factor, at: key.origin)
        }
        guard let begun else {
            throw .server(.malformed("the registration has no serial number or transaction"))
        }
        let serial = begun.serial
        do throws(SecondFactorError) {
            var options: PublicKeyCredentialCreationOptions
            do { options = try begun.request.get() } catch { throw .server(error) }
            options.selection.userVerification = .required
            let asked = options
            let made = try await touching { () async throws(WebAuthnError) in try await key.create(asked) }
            try await changing(.factors) { () async throws(ServerError) in
                try await server.finishRegistration(begun, user, realm: realm, made, device: device, at: key.origin)
            }
            if factor == .passkey, let device {
                try await asking { () async throws(ServerError) in try await server.describe(serial, device) }
            }
            guard let token = try await tokens(of: user).first(where: { $0.serial == serial }), token.isUsable else {
                throw SecondFactorError.server(.malformed("the key is not registered"))
            }
            return token
        } catch {
            throw await undone(error, .factors) { () async throws(ServerError) in try await server.delete(serial) }
        }
    }

    /// Verifies a user with a registered key (verifyFingerPrint). The key verifies the user by PIN or fingerprint.
    ///
    /// - Parameters:
    ///   - key: The key, at the origin where it was registered; evaluated once the user is known to have one.
    ///   - device: The device that must answer; `nil` for any of the user's devices.
    ///   - remembers: Whether the server should remember this device; requires an API key.
    /// - Returns: The serial number of the factor that answered, and the cookie if one was requested.
    /// - Throws: `SecondFactorError`: `noFactor`, `noSuchDevice`, `key`, `rejected`, `locked` or `server`; and the errors
    ///   of `key`.
    public func verifyKey(
        _ user: String, _ key: @autoclosure () async throws -> WebAuthnClient, device: String? = nil,
        remembers: Bool = false
    ) async throws -> (serial: String, cookie: SharedSecret?) {
        let usable = try await tokens(of: user).filter { $0.kind == .webAuthn && $0.isUsable }
        var wanted: Factor?
        if let device {
            wanted = try Self.device(device, in: usable)
        } else if usable.isEmpty {
            throw SecondFactorError.noFactor(user)
        } else if usable.count == 1 {
            wanted = usable.first
        }
        return try await verified(user, try await key(), wanted?.serial, remembers)
    }

    private func verified(
        _ user: String, _ key: WebAuthnClient, _ serial: String?, _ remembers: Bool
    ) async throws(SecondFactorError) -> (serial: String, cookie: SharedSecret?) {
        let answer = try await asking { () async throws(ServerError) in
            try await server.challenge(user, realm: realm, factor: serial, at: key.origin)
        }
        guard let challenge = answer.challenges.first(where: { $0.request != nil }), let request = challenge.request
        else { throw await refusal(answer.message, of: user, serial: serial, expiry: nil) }
        var options: PublicKeyCredentialRequestOptions
        do { options = try request.get() } catch { throw .server(error) }
        options.userVerification = .required
        let asked = options
        let signed = try await touching { () async throws(WebAuthnError) in try await key.get(asked) { _ in 0 } }
        let checked = try await changing(.challenge) { () async throws(ServerError) in
            try await server.check(
                user, realm: realm, signed, transaction: challenge.transactionID, remembers: remembers, at: key.origin)
        }
        guard checked.isAccepted else {
            throw await refusal(
                checked.message, of: user, serial: serial ?? challenge.serial, expiry: challenge.expiry)
        }
        return (checked.serial ?? challenge.serial, try Self.cookie(checked, remembers))
    }

    /// Signs in with a passkey, without a user name.
    ///
    /// - Parameters:
    ///   - user: The user to whom the passkey must belong; `nil` for any user.
    /// - Returns: The user to whom the passkey belongs, and the factor's serial number.
    /// - Throws: `otherUser`, `key`, `rejected` or `server`.
    public func verifyPasskey(
        _ key: WebAuthnClient, of user: String? = nil
    ) async throws(SecondFactorError) -> (user: String, serial: String) {
        if let user { try check(user) }
        let answer = try await passkeyAnswer(key)
        let checked = try await asking { () async throws(ServerError) in
            try await server.check(answer, at: key.origin)
        }
        guard checked.isAccepted else { throw .rejected(checked.message) }
        guard let name = checked.user, let serial = checked.serial else {
            throw .server(.malformed("the answer does not name the passkey's owner"))
        }
        if let user, user != name { throw .otherUser(name) }
        return (name, serial)
    }

    /// Answers a challenge of the server with a passkey.
    func passkeyAnswer(_ key: WebAuthnClient) async throws(SecondFactorError) -> PasskeyAnswer {
        let challenge = try await asking { () async throws(ServerError) in
            try await server.challengePasskey(at: key.origin)
        }
        var options = PublicKeyCredentialRequestOptions(
            rpID: challenge.rpID, challenge: challenge.challenge, allowCredentials: [])
        options.userVerification = .required
        let sent = options
        let signed = try await touching { () async throws(WebAuthnError) in try await key.get(sent) { _ in 0 } }
        return PasskeyAnswer(transactionID: challenge.transactionID, response: signed)
    }

    // MARK: devices

    /// Returns the keys registered for a user (checkDeviceIsRegistered).
    ///
    /// - Parameters:
    ///   - device: A device's name, serial number or container; `nil` for all.
    public func devices(
        of user: String, _ device: String? = nil
    ) async throws(SecondFactorError) -> [Factor] {
        let keys = try await tokens(of: user).filter(\.isKey)
        guard let device else { return keys }
        return keys.filter { $0.isNamed(device) }
    }

    /// Deletes a user's device (deleteUserDevice).
    ///
    /// - Throws: `noSuchDevice`, `ambiguous`, `noSuchUser` or `server`.
    public func removeDevice(_ device: String, of user: String) async throws(SecondFactorError) -> Factor {
        let token = try Self.device(device, in: try await tokens(of: user).filter(\.isKey))
        try await changing(.factors) { () async throws(ServerError) in try await server.delete(token.serial) }
        return token
    }

    private static func device(
        _ name: String, in tokens: [Factor]
    ) throws(SecondFactorError) -> Factor {
        let found = tokens.filter { $0.isNamed(name) }
        guard let token = found.first else { throw .noSuchDevice(name) }
        guard found.count == 1 else { throw .ambiguous(found.map(\.serial)) }
        return token
    }
}

extension Factor {
    fileprivate func isNamed(_ name: String) -> Bool { serial == name || description == name || container == name }
}
