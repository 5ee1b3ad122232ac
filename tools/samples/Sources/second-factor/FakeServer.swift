// SPDX-License-Identifier: Apache-2.0

import Synchronization
import YKFIDO
import YKHTTP
import YKPrivacyIDEA
import YKSecondFactor
import YKit

/// A server of second factors in memory: it has one user, who may register keys.
final class FakeServer: SecondFactorServer {
    private struct Content {
        var factors: [Factor] = []
        var keys: [String: (id: [UInt8], key: COSEKey)] = [:]
        var challenges: [String: String] = [:]
    }

    private let name: String
    private let host: String
    private let content = Mutex(Content())

    init(of user: String, at host: String) { (name, self.host) = (user, host) }

    func logIn(_ account: String, password: borrowing Secret) throws(ServerError) -> ServerSession {
        if password.isEmpty { throw .refused(status: 401, code: 4031, message: "wrong credentials") }
        let account = ServerAccount(role: "admin", name: account, realm: "", actsOnlyForItself: false)
        return ServerSession(token: SharedSecret(Secret(utf8: "token")), account: account, expiry: nil)
    }

    func factors(of user: String, realm: String?) -> [Factor]? {
        user == name ? content.withLock { $0.factors } : nil
    }

    func delete(_ factor: String) { content.withLock { $0.factors.removeAll { $0.serial == factor } } }

    func startRegistration(
        _ user: String, realm: String?, _ factor: KeyFactor, at origin: Origin
    ) -> KeyRegistration? {
        let serial = content.withLock { "WAN\($0.factors.count + 1)" }
        content.withLock { $0.factors.append(Factor(serial: serial, kind: .webAuthn, enrolment: .verify)) }
        let options = PublicKeyCredentialCreationOptions(
            rpID: host, rpName: "Example", user: FIDOUser(id: Array(user.utf8), name: user, displayName: user),
            challenge: challenge())
        return KeyRegistration(factor, serial: serial, transactionID: serial, request: .success(options))
    }

    func finishRegistration(
        _ registration: KeyRegistration, _ user: String, realm: String?, _ made: RegistrationResponse, device: String?,
        at origin: Origin
    ) throws(ServerError) {
        guard let credential = made.attestationObject.authenticatorData.credential else {
            throw .refused(status: 400, code: 905, message: "no credential")
        }
        let factor = Factor(serial: registration.serial, kind: .webAuthn, description: device ?? "")
        content.withLock {
            $0.keys[factor.serial] = (credential.id, credential.publicKey)
            $0.factors = $0.factors.map { $0.serial == factor.serial ? factor : $0 }
        }
    }

    func challenge(
        _ user: String, realm: String?, factor: String?, at origin: Origin?
    ) -> FactorChallenges {
        let found = content.withLock { $0.keys.filter { factor == nil || factor == $0.key } }
        var challenges: [FactorChallenge] = []
        for (serial, credential) in found {
            let challenge = challenge()
            let transaction = Hex.encode(challenge.prefix(8))
            content.withLock { $0.challenges[transaction] = serial }
            let request = PublicKeyCredentialRequestOptions(
                rpID: host, challenge: challenge, allowCredentials: [PublicKeyCredentialDescriptor(id: credential.id)])
            challenges.append(
                FactorChallenge(serial: serial, transactionID: transaction, request: .success(request)))
        }
        return FactorChallenges(challenges)
    }

    /// Checks the signature only; a real server compares challenge, origin and counter too, as `YKRelyingParty` does.
    func check(
        _ user: String, realm: String?, _ response: AuthenticationResponse, transaction: String, remembers: Bool,
        at origin: Origin
    ) -> FactorCheck {
        let serial = content.withLock { $0.challenges.removeValue(forKey: transaction) }
        guard let serial, let key = content.withLock({ $0.keys[serial]?.key }) else {
            return FactorCheck(isAccepted: false, message: "no such challenge")
        }
        let signed = response.authenticatorData.bytes + HashAlgorithm.sha256.hash(response.clientDataJSON ?? [])
        let isValid = (try? key.verify(response.signature, over: signed)) != nil
        return FactorCheck(isAccepted: isValid, message: "wrong signature", serial: serial)
    }

    private func challenge() -> [UInt8] { SystemRandom().draw(32, secret: false) }
}
