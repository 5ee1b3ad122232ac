// SPDX-License-Identifier: Apache-2.0

public import YKCrypto
public import YKFIDO
public import YKHTTP
import YKPrivacyIDEA
import YKWire

extension PrivacyIDEAFactors {
    /// Starts the registration of a key (`POST /token/init`, first step).
    public func startRegistration(
        _ user: String, realm: String?, _ factor: KeyFactor, at origin: Origin
    ) async throws(ServerError) -> KeyRegistration? {
        let answer = try await client.at(origin).initToken(factor.kind, .object(Self.owner(user, realm)))
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
        _ = try await client.at(origin).initToken(factor.kind, .object(answer))
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
        let answer = try await client.initToken(channel.kind, .object(parameters))
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
            answer = try await client.initToken(
                PrivacyIDEAToken.Kind(rawValue: factor.kind.rawValue), .object(parameters))
        } catch {
            if case .refused(400, 905, _) = error { return .rejected(error) }
            throw error
        }
        return Self.state(answer) == .enrolled ? .enrolled : .waiting
    }

    private static func state(_ answer: PrivacyIDEAAnswer) -> PrivacyIDEAToken.RolloutState? {
        answer.detail["rollout_state"]?.string.map(PrivacyIDEAToken.RolloutState.init)
    }
}

extension KeyFactor {
    fileprivate var kind: PrivacyIDEAToken.Kind { self == .webAuthn ? .webAuthn : .passkey }
}

extension PINChannel {
    fileprivate var kind: PrivacyIDEAToken.Kind { self == .sms ? .sms : .email }
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
