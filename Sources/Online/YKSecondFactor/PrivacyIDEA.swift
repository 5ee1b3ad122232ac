// SPDX-License-Identifier: Apache-2.0

public import YKCrypto
public import YKFIDO
public import YKHTTP
public import YKPrivacyIDEA
import YKWire

/// A privacyIDEA server, as ``SecondFactor`` uses it.
extension PrivacyIDEA: SecondFactorServer {
    /// Uses an account's JSON Web Token.
    public mutating func use(token: SharedSecret) { credentials = .token(token) }

    /// Uses a client's API key in addition to the account.
    public mutating func use(apiKey: SharedSecret) { self.apiKey = apiKey }

    /// Logs in with a passkey.
    public mutating func logIn(_ passkey: PasskeyAnswer, at origin: Origin) async throws(ServerError) -> ServerSession {
        let usual = self.origin
        self.origin = origin.description
        defer { self.origin = usual }
        return try await logIn(passkey: passkey.members)
    }

    /// Returns the tokens of a user (`GET /token/`).
    public func factors(of user: String, realm: String?) async throws(ServerError) -> [Factor]? {
        do { return try await tokens(user: user, realm: realm) } catch {
            if case .refused(400, 904, _) = error { return nil }
            throw error
        }
    }

    /// Sets a token's description.
    public func describe(_ factor: String, _ text: String) async throws(ServerError) {
        try await setToken(factor, ["description": .string(text)])
    }

    /// Triggers challenges as a service account (`POST /validate/triggerchallenge`).
    public func challenge(
        _ user: String, realm: String?, factor: String?, at origin: Origin?
    ) async throws(ServerError) -> FactorChallenges {
        let answer = try await at(origin).triggerChallenge(user, realm: realm, serial: factor)
        return FactorChallenges(answer.challenges.map(FactorChallenge.init), message: answer.message)
    }

    /// Checks a PIN (`POST /validate/check`).
    public func check(
        _ user: String, realm: String?, pin: borrowing Secret, transaction: String, remembers: Bool
    ) async throws(ServerError) -> FactorCheck? {
        do {
            return FactorCheck(
                try await check(user, realm: realm, pin, transaction: transaction, remembers: remembers))
        } catch {
            if case .refused(400, 904, _) = error { return nil }
            throw error
        }
    }

    /// Checks the response of a FIDO2 credential.
    public func check(
        _ user: String, realm: String?, _ response: AuthenticationResponse, transaction: String, remembers: Bool,
        at origin: Origin
    ) async throws(ServerError) -> FactorCheck {
        FactorCheck(
            try await at(origin).check(
                user, realm: realm, Secret([]), transaction: transaction, response: response.members,
                remembers: remembers))
    }

    /// Opens a passkey ceremony (`POST /validate/initialize`).
    public func challengePasskey(at origin: Origin) async throws(ServerError) -> PasskeyChallenge {
        try await at(origin).startPasskey()
    }

    /// Checks a passkey's response.
    public func check(_ passkey: PasskeyAnswer, at origin: Origin) async throws(ServerError) -> FactorCheck {
        FactorCheck(try await at(origin).check(nil, Secret([]), response: passkey.members))
    }

    /// Returns the part of an API key after `pi_`.
    public func keyID(of apiKey: borrowing Secret) -> String {
        let parts = apiKey.text().split(separator: "_", maxSplits: 2)
        return parts.count == 3 && parts[0] == "pi" ? String(parts[1]) : ""
    }

    /// Returns the same server with another origin for ceremonies.
    private func at(_ origin: Origin?) -> PrivacyIDEA {
        guard let origin else { return self }
        var server = self
        server.origin = origin.description
        return server
    }
}

extension PrivacyIDEA {
    /// The name of the policy that says which users may have remembered devices.
    public static let rememberingPolicy = "ykit-remembered-devices"

    /// Returns the dedicated policy.
    public func rememberingRule(days: Int) async throws(ServerError) -> RememberingRule {
        let known = try await policies().first { $0.name == Self.rememberingPolicy }
        let settings: JSONValue = ["remember_device": true, "remember_device_validity": .int(Int64(days))]
        // The server requires an inactive policy to name users as well.
        let entries = known.map { $0.isActive ? $0.users : [] } ?? []
        let names = entries.map { $0.replacing("\\", with: "") }
        return RememberingRule(
            users: names.filter { entries.contains(Self.pattern($0)) },
            patterns: zip(entries, names).filter { $0 != Self.pattern($1) }.map(\.0), realms: known?.realms ?? [],
            isNew: known == nil, settings: known?.actions ?? settings.object ?? JSONValue.Object())
    }

    /// Sets the dedicated policy. Without users it would apply to everyone, so it is then made inactive.
    public func set(_ rule: RememberingRule, without user: String) async throws(ServerError) {
        var policy = PrivacyIDEAPolicy(Self.rememberingPolicy, scope: "authentication", .object(rule.settings))
        policy.realms = rule.realms
        policy.users = rule.patterns + rule.users.map(Self.pattern)
        policy.isActive = !policy.users.isEmpty
        if policy.users.isEmpty { policy.users = [Self.pattern(user)] }
        try await setPolicy(policy)
    }

    /// Returns the regular expression that matches only this user name, the form in which a policy stores it.
    private static func pattern(_ user: String) -> String {
        user.reduce(into: "") { pattern, character in
            let isPlain = character.isLetter || character.isNumber || "_@".contains(character)
            pattern += isPlain ? String(character) : "\\\(character)"
        }
    }

    /// Starts the registration of a key (`POST /token/init`, first step).
    public func startRegistration(
        _ user: String, realm: String?, _ factor: KeyFactor, at origin: Origin
    ) async throws(ServerError) -> KeyRegistration? {
        let answer = try await at(origin).initToken(factor.kind, .object(Self.owner(user, realm)))
        guard let serial = answer.serial, let transaction = answer.transactionID else { return nil }
        return KeyRegistration(
            factor, serial: serial, transactionID: transaction,
            request: Result { () throws(ServerError) in try Self.creation(answer, factor) })
    }

    /// Ends the registration of a key (`POST /token/init`, second step); a passkey is described in a call of its own.
    public func finishRegistration(
        _ registration: KeyRegistration, _ user: String, realm: String?, _ made: RegistrationResponse, device: String?,
        at origin: Origin
    ) async throws(ServerError) {
        let factor = registration.factor
        var answer = made.members(factor).object ?? JSONValue.Object()
        answer["serial"] = .string(registration.serial)
        answer["transaction_id"] = .string(registration.transactionID)
        for member in Self.owner(user, realm).members { answer[member.key] = member.value }
        if factor == .webAuthn { answer["description"] = device.map(JSONValue.string) }
        _ = try await at(origin).initToken(factor.kind, .object(answer))
    }

    private static func owner(_ user: String, _ realm: String?, of serial: String? = nil) -> JSONValue.Object {
        var owner = JSONValue.Object()
        if let serial { owner["serial"] = .string(serial) }
        owner["user"] = .string(user)
        owner["realm"] = realm.map(JSONValue.string) ?? .null
        return owner
    }

    /// Returns the options sent by the server.
    private static func creation(
        _ answer: PrivacyIDEAAnswer, _ factor: KeyFactor
    ) throws(ServerError) -> PublicKeyCredentialCreationOptions {
        let name = factor == .webAuthn ? "webAuthnRegisterRequest" : "passkey_registration"
        guard var json = answer.detail[name]?.object else { throw .malformed("\(name) is missing") }
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
        do { return try PublicKeyCredentialCreationOptions(json: .object(json)) } catch {
            throw .malformed("\(name): \(error)")
        }
    }

    /// Starts the enrollment of a token that sends PINs; under the policy `verify_enrollment` a PIN is sent.
    public func startEnrolment(
        _ user: String, realm: String?, _ channel: PINChannel, to destination: String?
    ) async throws(ServerError) -> PINEnrolment? {
        var parameters = Self.owner(user, realm)
        parameters["genkey"] = 1
        let member = channel == .sms ? "phone" : "email"
        if let destination {
            parameters[member] = .string(destination)
        } else {
            parameters["dynamic_" + member] = 1
        }
        let answer = try await initToken(channel.kind, .object(parameters))
        return answer.serial.map { PINEnrolment(serial: $0, isUnverified: Self.state(answer) == .verify) }
    }

    /// Verifies the PIN of an enrollment.
    public func finishEnrolment(
        _ factor: Factor, _ user: String, realm: String?, pin: borrowing Secret
    ) async throws(ServerError) -> PINEnrolmentEnd {
        var parameters = Self.owner(user, realm, of: factor.serial)
        parameters["verify"] = .string(pin.text())
        let answer: PrivacyIDEAAnswer
        do {
            answer = try await initToken(
                factor.kind, .object(parameters))
        } catch {
            if case .refused(400, 905, _) = error { return .rejected(error) }
            throw error
        }
        return Self.state(answer) == .enrolled ? .enrolled : .waiting
    }

    private static func state(_ answer: PrivacyIDEAAnswer) -> Factor.Enrolment? {
        answer.detail["rollout_state"]?.string.map(Factor.Enrolment.init)
    }
}

extension FactorCheck {
    fileprivate init(_ answer: PrivacyIDEAAnswer) {
        self.init(
            isAccepted: answer.authentication == .accept, message: answer.message, serial: answer.serial,
            user: answer.detail["username"]?.string, cookie: answer.deviceCookie)
    }
}

extension KeyFactor {
    fileprivate var kind: Factor.Kind { self == .webAuthn ? .webAuthn : .passkey }
}

extension PINChannel {
    fileprivate var kind: Factor.Kind { self == .sms ? .sms : .email }
}

extension FactorChallenge {
    init(_ challenge: PrivacyIDEAChallenge) {
        var request: Result<PublicKeyCredentialRequestOptions, ServerError>?
        if challenge.type == .webAuthn, let object = challenge.attributes["webAuthnSignRequest"]?.object {
            request = Result { () throws(ServerError) in
                do { return try PublicKeyCredentialRequestOptions(json: .object(object)) } catch {
                    throw .malformed("webAuthnSignRequest: \(error)")
                }
            }
        }
        self.init(
            serial: challenge.serial, transactionID: challenge.transactionID, expiry: challenge.expiry,
            request: request)
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
    var members: JSONValue {
        [
            "credentialid": .base64url(id), "clientdata": .base64url(clientDataJSON ?? []),
            "signaturedata": .base64url(signature), "authenticatordata": .base64url(authenticatorData.bytes),
            "userhandle": .base64url(userHandle ?? []),
        ]
    }
}

extension PasskeyAnswer {
    /// The parameters that submit a passkey's signature to the server.
    var members: JSONValue {
        [
            "transaction_id": .string(transactionID), "credential_id": .base64url(response.id),
            "authenticatorData": .base64url(response.authenticatorData.bytes),
            "clientDataJSON": .base64url(response.clientDataJSON ?? []), "signature": .base64url(response.signature),
            "userHandle": .base64url(response.userHandle ?? []),
        ]
    }
}

extension JSONValue {
    fileprivate static func base64url(_ bytes: [UInt8]) -> JSONValue { .string(Base64.encodeURL(bytes)) }
}
