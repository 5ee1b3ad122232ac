// SPDX-License-Identifier: Apache-2.0

import YKFIDO
import YKHTTP
import YKPrivacyIDEA
import YKSecondFactor
import YKit

/// What this server does not have: PINs, passkeys, users and remembered devices.
extension FakeServer {
    private static let unsupported = ServerError.status(501)

    var account: ServerAccount? { nil }
    func use(token: SharedSecret) {}
    func use(apiKey: SharedSecret) {}
    func logIn(_ passkey: PasskeyAnswer, at origin: Origin) throws(ServerError) -> ServerSession {
        throw Self.unsupported
    }

    func enable(_ factors: FactorSelection) throws(ServerError) -> Int { throw Self.unsupported }
    func disable(_ factors: FactorSelection) throws(ServerError) -> Int { throw Self.unsupported }
    func describe(_ factor: String, _ text: String) throws(ServerError) { throw Self.unsupported }

    func openChallenges(of factor: String) -> [OpenFactorChallenge] { [] }
    func cancelChallenge(_ transaction: String) {}
    func check(
        _ user: String, realm: String?, pin: borrowing Secret, transaction: String, remembers: Bool
    ) throws(ServerError) -> FactorCheck? { throw Self.unsupported }
    func challengePasskey(at origin: Origin) throws(ServerError) -> PasskeyChallenge { throw Self.unsupported }
    func check(_ passkey: PasskeyAnswer, at origin: Origin) throws(ServerError) -> FactorCheck {
        throw Self.unsupported
    }

    func startEnrolment(
        _ user: String, realm: String?, _ channel: PINChannel, to destination: String?
    ) throws(ServerError) -> PINEnrolment? { throw Self.unsupported }
    func finishEnrolment(
        _ factor: Factor, _ user: String, realm: String?, pin: borrowing Secret
    ) throws(ServerError) -> PINEnrolmentEnd { throw Self.unsupported }

    func user(_ name: String, realm: String?) -> ServerUser? { nil }
    func add(_ user: NewUser, store: String) throws(ServerError) { throw Self.unsupported }
    func deleteUser(_ name: String, store: String) throws(ServerError) { throw Self.unsupported }
    func userStores(realm: String?) -> [String] { [] }

    func rememberingRule(days: Int) throws(ServerError) -> RememberingRule { throw Self.unsupported }
    func set(_ rule: RememberingRule, without user: String) throws(ServerError) { throw Self.unsupported }
    func rememberedDevices(of client: String) -> [FactorDevice] { [] }
    func checkDevice(
        _ user: String, realm: String?, cookie: borrowing Secret
    ) -> (isRemembered: Bool, cookie: SharedSecret?) { (false, nil) }
    func forgetDevice(_ device: String, of client: String) throws(ServerError) { throw Self.unsupported }
    func forgetDevices(of user: String, realm: String?) -> Int { 0 }
    func clients() -> [FactorClient] { [] }
    func addClient(_ name: String) throws(ServerError) -> FactorClient { throw Self.unsupported }
    func rotateClient(_ id: String) throws(ServerError) -> FactorClient { throw Self.unsupported }
    func keyID(of apiKey: borrowing Secret) -> String { "" }
}
