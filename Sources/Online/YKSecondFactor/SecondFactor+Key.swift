// SPDX-License-Identifier: Apache-2.0

public import YKCrypto
public import YKFIDO
public import YKPrivacyIDEA
import YKWire

/// The type of a registered FIDO2 credential.
public enum KeyFactor: Hashable, Sendable {
    /// A credential used after a user name.
    case webAuthn
    /// A credential stored on the key that identifies its user.
    case passkey

    var kind: PrivacyIDEAToken.Kind { self == .webAuthn ? .webAuthn : .passkey }
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
    ) async throws -> PrivacyIDEAToken {
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
    ) async throws(SecondFactorError) -> PrivacyIDEAToken {
        let server = server.at(key.origin)
        let owner: JSONValue = ["user": .string(user), "realm": realm.map(JSONValue.string) ?? .null]
        let begun = try await changing(.factors) { () async throws(PrivacyIDEAError) in
            try await server.initToken(factor.kind, owner)
        }
        guard let serial = begun.serial, let transaction = begun.transactionID else {
            throw .server(.malformed("the registration has no serial number or transaction"))
        }
        do throws(SecondFactorError) {
            let options = try Self.creation(begun, factor)
            let made = try await touching { () async throws(WebAuthnError) in try await key.create(options) }
            var answer = made.members(factor).object ?? JSONValue.Object()
            answer["serial"] = .string(serial)
            answer["transaction_id"] = .string(transaction)
            for member in owner.object?.members ?? [] { answer[member.key] = member.value }
            if factor == .webAuthn { answer["description"] = device.map(JSONValue.string) }
            let sent = JSONValue.object(answer)
            try await changing(.factors) { () async throws(PrivacyIDEAError) in
                _ = try await server.initToken(factor.kind, sent)
            }
            if factor == .passkey, let device {
                try await asking { () async throws(PrivacyIDEAError) in
                    try await server.setToken(serial, ["description": .string(device)])
                }
            }
            guard let token = try await tokens(of: user).first(where: { $0.serial == serial }), token.isUsable else {
                throw SecondFactorError.server(.malformed("the key is not registered"))
            }
            return token
        } catch {
            throw await undone(error, .factors) { () async throws(PrivacyIDEAError) in
                try await server.deleteToken(serial)
            }
        }
    }

    /// Returns the options sent by the server, with user verification required.
    private static func creation(
        _ answer: PrivacyIDEAAnswer, _ factor: KeyFactor
    ) throws(SecondFactorError) -> PublicKeyCredentialCreationOptions {
        let name = factor == .webAuthn ? "webAuthnRegisterRequest" : "passkey_registration"
        guard var json = answer.detail[name]?.object else { throw .server(.malformed("\(name) is missing")) }
        if factor == .webAuthn {
            var user = JSONValue.Object()
            user["id"] = .string(Base64.encodeURL(Array((json["serialNumber"]?.string ?? "").utf8)))
            user["name"] = json["name"]
            user["displayName"] = json["displayName"]
            json["user"] = .object(user)
            json["challenge"] = json["nonce"]
            json["rp"] = json["relyingParty"]
            json["pubKeyCredParams"] = json["pubKeyCredAlgorithms"]
        } else {
            // The server compares the text of the challenge, not the bytes it encodes.
            json["challenge"] = json["challenge"]?.string.map { .string(Base64.encodeURL(Array($0.utf8))) }
        }
        do {
            var options = try PublicKeyCredentialCreationOptions(json: .object(json))
            options.selection.userVerification = .required
            return options
        } catch { throw .server(.malformed("\(name): \(error)")) }
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
        var wanted: PrivacyIDEAToken?
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
        let server = server.at(key.origin)
        let answer = try await asking { () async throws(PrivacyIDEAError) in
            try await server.triggerChallenge(user, realm: realm, serial: serial)
        }
        let challenges = answer.challenges.filter { $0.type == .webAuthn }
        guard let challenge = challenges.first, let request = challenge.attributes["webAuthnSignRequest"]?.object
        else { throw await refusal(answer, of: user, serial: serial, expiry: nil) }
        let options = try Self.request(request)
        let signed = try await touching { () async throws(WebAuthnError) in try await key.get(options) { _ in 0 } }
        let transaction = challenge.transactionID
        let checked = try await changing(.challenge) { () async throws(PrivacyIDEAError) in
            try await server.check(
                user, realm: realm, Secret([]), transaction: transaction, response: signed.members, remembers: remembers
            )
        }
        guard checked.authentication == .accept else {
            throw await refusal(checked, of: user, serial: serial ?? challenge.serial, expiry: challenge.expiry)
        }
        return (checked.serial ?? challenge.serial, try Self.cookie(checked, remembers))
    }

    private static func request(
        _ object: JSONValue.Object
    ) throws(SecondFactorError) -> PublicKeyCredentialRequestOptions {
        do {
            var options = try PublicKeyCredentialRequestOptions(json: .object(object))
            options.userVerification = .required
            return options
        } catch { throw .server(.malformed("webAuthnSignRequest: \(error)")) }
    }

    /// Signs in with a passkey (POST /validate/initialize), without a user name.
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
        let server = server.at(key.origin)
        let checked = try await asking { () async throws(PrivacyIDEAError) in
            try await server.check(nil, Secret([]), response: answer)
        }
        guard checked.authentication == .accept else { throw .rejected(checked.message) }
        guard let name = checked.detail["username"]?.string, let serial = checked.serial else {
            throw .server(.malformed("the answer does not say whose passkey it is"))
        }
        if let user, user != name { throw .otherUser(name) }
        return (name, serial)
    }

    /// Answers a challenge of the server with a passkey.
    func passkeyAnswer(_ key: WebAuthnClient) async throws(SecondFactorError) -> JSONValue {
        let server = server.at(key.origin)
        let challenge = try await asking { () async throws(PrivacyIDEAError) in try await server.startPasskey() }
        var options = PublicKeyCredentialRequestOptions(
            rpID: challenge.rpID, challenge: challenge.challenge, allowCredentials: [])
        options.userVerification = .required
        let sent = options
        let signed = try await touching { () async throws(WebAuthnError) in try await key.get(sent) { _ in 0 } }
        return [
            "transaction_id": .string(challenge.transactionID), "credential_id": .base64url(signed.id),
            "authenticatorData": .base64url(signed.authenticatorData.bytes),
            "clientDataJSON": .base64url(signed.clientDataJSON ?? []), "signature": .base64url(signed.signature),
            "userHandle": .base64url(signed.userHandle ?? []),
        ]
    }

    // MARK: devices

    /// Returns the keys registered for a user (checkDeviceIsRegistered).
    ///
    /// - Parameters:
    ///   - device: A device's name, serial number or container; `nil` for all.
    public func devices(
        of user: String, _ device: String? = nil
    ) async throws(SecondFactorError) -> [PrivacyIDEAToken] {
        let keys = try await tokens(of: user).filter(\.isKey)
        guard let device else { return keys }
        return keys.filter { $0.isNamed(device) }
    }

    /// Deletes a user's device (deleteUserDevice).
    ///
    /// - Throws: `noSuchDevice`, `ambiguous`, `noSuchUser` or `server`.
    public func removeDevice(_ device: String, of user: String) async throws(SecondFactorError) -> PrivacyIDEAToken {
        let token = try Self.device(device, in: try await tokens(of: user).filter(\.isKey))
        try await changing(.factors) { () async throws(PrivacyIDEAError) in try await server.deleteToken(token.serial) }
        return token
    }

    private static func device(
        _ name: String, in tokens: [PrivacyIDEAToken]
    ) throws(SecondFactorError) -> PrivacyIDEAToken {
        let found = tokens.filter { $0.isNamed(name) }
        guard let token = found.first else { throw .noSuchDevice(name) }
        guard found.count == 1 else { throw .ambiguous(found.map(\.serial)) }
        return token
    }
}

extension PrivacyIDEAToken {
    fileprivate func isNamed(_ name: String) -> Bool { serial == name || description == name || container == name }
}

extension PrivacyIDEA {
    /// Returns the same server with another origin for ceremonies.
    func at(_ origin: Origin) -> PrivacyIDEA {
        var server = self
        server.origin = origin.description
        return server
    }
}

extension RegistrationResponse {
    /// The parameters that submit a new credential to the server.
    fileprivate func members(_ factor: KeyFactor) -> JSONValue {
        guard factor == .passkey else {
            return [
                "clientdata": .base64url(clientDataJSON ?? []), "regdata": .base64url(attestationObjectBytes),
                "registrationclientextensions": .base64url(Array(JSONValue.object(clientExtensionResults).text.utf8)),
            ]
        }
        return [
            "credential_id": .base64url(id), "rawId": .base64url(id),
            "authenticatorAttachment": .string(attachment?.rawValue ?? "cross-platform"),
            "attestationObject": .base64url(attestationObjectBytes), "clientDataJSON": .base64url(clientDataJSON ?? []),
        ]
    }
}

extension AuthenticationResponse {
    /// The parameters that submit a signature to the server.
    fileprivate var members: JSONValue {
        [
            "credentialid": .base64url(id), "clientdata": .base64url(clientDataJSON ?? []),
            "signaturedata": .base64url(signature), "authenticatordata": .base64url(authenticatorData.bytes),
            "userhandle": .base64url(userHandle ?? []),
        ]
    }
}

extension JSONValue {
    fileprivate static func base64url(_ bytes: [UInt8]) -> JSONValue { .string(Base64.encodeURL(bytes)) }
}
