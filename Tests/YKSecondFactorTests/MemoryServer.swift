// SPDX-License-Identifier: Apache-2.0

import Synchronization
import YKCrypto
import YKFIDO
import YKHTTP
import YKPrivacyIDEA
import YKSecondFactor
import YKWire

/// A server that is no privacyIDEA and speaks no HTTP: users and their factors in memory, and one PIN for everything.
final class MemoryServer: SecondFactorServer {
    struct Content {
        var factors: [String: [Factor]] = [:]
        var phones: [String: String] = [:]
        var waiting: [String: String] = [:]
        var keys: [String: (id: [UInt8], key: COSEKey)] = [:]
        var rule = RememberingRule(users: [], isNew: true)
        var clients: [FactorClient] = []
        var devices: [FactorDevice] = []
        var last = 0
    }

    static let pin = "246810"
    static let rpID = "login.example"
    let content = Mutex(Content())

    init(_ users: String...) {
        content.withLock { content in for user in users { content.factors[user] = [] } }
    }

    private func number() -> String {
        content.withLock { content in
            content.last += 1; return "F\(content.last)"
        }
    }

    private func change(_ serial: String, _ body: (Factor) -> Factor?) {
        content.withLock { content in
            content.factors = content.factors.mapValues { list in
                list.compactMap { $0.serial == serial ? body($0) : $0 }
            }
        }
    }

    var account: ServerAccount? { ServerAccount(role: "owner", name: "root", realm: "", actsOnlyForItself: false) }
    func use(token: SharedSecret) {}
    func use(apiKey: SharedSecret) {}

    func logIn(_ account: String, password: borrowing Secret) throws(ServerError) -> ServerSession {
        guard password == Secret(utf8: Self.pin) else { throw .refused(status: 401, code: 1, message: "no") }
        return ServerSession(
            token: SharedSecret(Secret(utf8: "token")),
            account: ServerAccount(role: "owner", name: account, realm: "", actsOnlyForItself: false), expiry: nil)
    }

    func logIn(_ passkey: PasskeyAnswer, at origin: Origin) throws(ServerError) -> ServerSession {
        throw .status(501)
    }

    func factors(of user: String, realm: String?) -> [Factor]? { content.withLock { $0.factors[user] } }

    func enable(_ factors: FactorSelection) -> Int { set(factors, active: true) }

    func disable(_ factors: FactorSelection) -> Int { set(factors, active: false) }

    private func set(_ selection: FactorSelection, active: Bool) -> Int {
        let serials: [String] =
            switch selection {
            case .serial(let serial): [serial]
            case .user(let user, _): (factors(of: user, realm: nil) ?? []).map(\.serial)
            }
        for serial in serials { change(serial) { $0.with(active: active) } }
        return serials.count
    }

    func delete(_ factor: String) { change(factor) { _ in nil } }

    func describe(_ factor: String, _ text: String) { change(factor) { $0.with(description: text) } }

    func challenge(_ user: String, realm: String?, factor: String?, at origin: Origin?) -> FactorChallenges {
        let found = (factors(of: user, realm: realm) ?? []).filter { factor == nil || $0.serial == factor }
        return FactorChallenges(
            found.map { factor in
                let transaction = number()
                content.withLock { $0.waiting[transaction] = factor.serial }
                let credential = content.withLock { $0.keys[factor.serial] }
                let request = PublicKeyCredentialRequestOptions(
                    rpID: Self.rpID, challenge: Array(transaction.utf8),
                    allowCredentials: [credential].compactMap { $0.map { PublicKeyCredentialDescriptor(id: $0.id) } })
                return FactorChallenge(
                    serial: factor.serial, transactionID: transaction,
                    request: credential == nil ? nil : .success(request))
            }, message: "answer it")
    }

    func openChallenges(of factor: String) -> [OpenFactorChallenge] {
        content.withLock { content in
            content.waiting.filter { $0.value == factor }.map {
                OpenFactorChallenge(serial: factor, transactionID: $0.key, expiry: nil, isAnswered: false)
            }
        }
    }

    func cancelChallenge(_ transaction: String) { content.withLock { $0.waiting[transaction] = nil } }

    func check(
        _ user: String, realm: String?, pin: borrowing Secret, transaction: String, remembers: Bool
    ) -> FactorCheck? {
        guard factors(of: user, realm: realm) != nil else { return nil }
        guard pin == Secret(utf8: Self.pin), let serial = content.withLock({ $0.waiting[transaction] }) else {
            return FactorCheck(isAccepted: false, message: "wrong")
        }
        cancelChallenge(transaction)
        let cookie = remembers ? SharedSecret(Secret(utf8: "c1")) : nil
        return FactorCheck(isAccepted: true, serial: serial, cookie: cookie)
    }

    func check(
        _ user: String, realm: String?, _ response: AuthenticationResponse, transaction: String, remembers: Bool,
        at origin: Origin
    ) -> FactorCheck {
        guard let serial = content.withLock({ $0.waiting[transaction] }),
            let key = content.withLock({ $0.keys[serial]?.key }), isSigned(response, key)
        else { return FactorCheck(isAccepted: false, message: "not signed") }
        return FactorCheck(isAccepted: true, serial: serial)
    }

    private func isSigned(_ response: AuthenticationResponse, _ key: COSEKey) -> Bool {
        let hash = HashAlgorithm.sha256.hash(response.clientDataJSON ?? [])
        return (try? key.verify(response.signature, over: response.authenticatorData.bytes + hash)) != nil
    }

    func challengePasskey(at origin: Origin) -> PasskeyChallenge {
        PasskeyChallenge(challenge: [1, 2, 3], rpID: Self.rpID, transactionID: number())
    }

    func check(_ passkey: PasskeyAnswer, at origin: Origin) -> FactorCheck {
        let found = content.withLock { content in
            content.keys.first { isSigned(passkey.response, $0.value.key) }.map { ($0.key, content.factors) }
        }
        guard let (serial, factors) = found else { return FactorCheck(isAccepted: false, message: "not signed") }
        let user = factors.first { $0.value.contains { $0.serial == serial } }?.key
        return FactorCheck(isAccepted: true, serial: serial, user: user)
    }

    func startRegistration(
        _ user: String, realm: String?, _ factor: KeyFactor, at origin: Origin
    ) -> KeyRegistration? {
        let serial = number()
        content.withLock {
            $0.factors[user]?.append(
                Factor(serial: serial, kind: factor == .passkey ? .passkey : .webAuthn, enrolment: .verify))
        }
        var options = PublicKeyCredentialCreationOptions(
            rpID: Self.rpID, rpName: "login", user: FIDOUser(id: Array(user.utf8), name: user, displayName: user),
            challenge: Array(serial.utf8))
        options.selection.residentKey = factor == .passkey ? .required : .discouraged
        return KeyRegistration(factor, serial: serial, transactionID: serial, request: .success(options))
    }

    func finishRegistration(
        _ registration: KeyRegistration, _ user: String, realm: String?, _ made: RegistrationResponse, device: String?,
        at origin: Origin
    ) throws(ServerError) {
        guard let credential = made.attestationObject.authenticatorData.credential else { throw .malformed("no key") }
        content.withLock { $0.keys[registration.serial] = (credential.id, credential.publicKey) }
        change(registration.serial) { $0.with(enrolment: .enrolled, description: device) }
    }

    func startEnrolment(
        _ user: String, realm: String?, _ channel: PINChannel, to destination: String?
    ) -> PINEnrolment? {
        let serial = number()
        content.withLock {
            $0.factors[user]?.append(
                Factor(serial: serial, kind: channel == .sms ? .sms : .email, enrolment: .verify))
        }
        return PINEnrolment(serial: serial, isUnverified: true)
    }

    func finishEnrolment(
        _ factor: Factor, _ user: String, realm: String?, pin: borrowing Secret
    ) -> PINEnrolmentEnd {
        guard pin == Secret(utf8: Self.pin) else {
            return .rejected(.refused(status: 400, code: 7, message: "wrong"))
        }
        change(factor.serial) { $0.with(enrolment: .enrolled) }
        return .enrolled
    }

    func user(_ name: String, realm: String?) -> ServerUser? {
        content.withLock { content in
            content.factors[name].map { _ in
                ServerUser(name: name, realm: "here", mobile: content.phones[name])
            }
        }
    }

    func add(_ user: NewUser, store: String) {
        content.withLock {
            $0.factors[user.name] = []
            $0.phones[user.name] = user.mobile
        }
    }

    func deleteUser(_ name: String, store: String) { content.withLock { $0.factors[name] = nil } }

    func userStores(realm: String?) -> [String] { ["memory"] }

    func rememberingRule(days: Int) -> RememberingRule { content.withLock { $0.rule } }

    func set(_ rule: RememberingRule, without user: String) {
        content.withLock { $0.rule = RememberingRule(users: rule.users, isNew: false) }
    }

    func rememberedDevices(of client: String) -> [FactorDevice] { content.withLock { $0.devices } }

    func checkDevice(
        _ user: String, realm: String?, cookie: borrowing Secret
    ) -> (isRemembered: Bool, cookie: SharedSecret?) {
        cookie == Secret(utf8: "c1") ? (true, SharedSecret(Secret(utf8: "c2"))) : (false, SharedSecret(Secret([])))
    }

    func forgetDevice(_ device: String, of client: String) {
        content.withLock { $0.devices.removeAll { $0.id == device } }
    }

    func forgetDevices(of user: String, realm: String?) -> Int {
        content.withLock { content in
            let count = content.devices.count
            content.devices.removeAll { $0.user == user }
            return count - content.devices.count
        }
    }

    func clients() -> [FactorClient] { content.withLock { $0.clients } }

    func addClient(_ name: String) -> FactorClient {
        let client = FactorClient(
            id: name, keyID: "k-\(name)", name: name, apiKey: SharedSecret(Secret(utf8: "k-\(name)")))
        content.withLock { $0.clients.append(client) }
        return client
    }

    func rotateClient(_ id: String) -> FactorClient { FactorClient(id: id, keyID: "new", name: id) }

    func keyID(of apiKey: borrowing Secret) -> String {
        apiKey.withBytes { String(decoding: $0, as: UTF8.self) }
    }
}

extension Factor {
    fileprivate func with(active: Bool? = nil, enrolment: Enrolment? = nil, description: String? = nil) -> Factor {
        Factor(
            serial: serial, kind: kind, isActive: active ?? isActive, enrolment: enrolment ?? self.enrolment,
            description: description ?? self.description)
    }
}
