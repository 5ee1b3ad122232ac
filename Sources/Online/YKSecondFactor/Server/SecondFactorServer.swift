// SPDX-License-Identifier: Apache-2.0

public import YKCrypto
public import YKFIDO
public import YKHTTP
public import YKPrivacyIDEA
public import YKWire

/// The operations that ``SecondFactor`` needs from a server: storing users and their factors, challenging and checking
/// them, and remembering devices for the clients that have an API key.
///
/// An implementation only translates; ``SecondFactor`` decides what is requested when, and what a refusal means. A
/// method that changes something changes nothing if it throws `ServerError.refused` with a status below 500.
public protocol SecondFactorServer: Sendable {
    /// The account of the caller; `nil` without one, and for a token that names none.
    var account: ServerAccount? { get }

    /// Uses an account's token for the calls that follow.
    mutating func use(token: SharedSecret)
    /// Uses a client's API key for the calls that follow, in addition to the account.
    mutating func use(apiKey: SharedSecret)
    /// Logs in with a password, and uses the session for the calls that follow.
    mutating func logIn(_ account: String, password: borrowing Secret) async throws(ServerError) -> ServerSession
    /// Logs in with a passkey, and uses the session for the calls that follow.
    mutating func logIn(_ passkey: PasskeyAnswer, at origin: Origin) async throws(ServerError) -> ServerSession

    // MARK: factors

    /// Returns all factors of a user; `nil` if there is no such user.
    func factors(of user: String, realm: String?) async throws(ServerError) -> [Factor]?
    /// Enables factors, and returns how many were changed.
    func enable(_ factors: FactorSelection) async throws(ServerError) -> Int
    /// Disables factors, and returns how many were changed.
    func disable(_ factors: FactorSelection) async throws(ServerError) -> Int
    /// Deletes a factor by its serial number.
    func delete(_ factor: String) async throws(ServerError)
    /// Describes a factor, given by its serial number.
    func describe(_ factor: String, _ text: String) async throws(ServerError)

    // MARK: challenges

    /// Challenges a user's factors.
    ///
    /// - Parameter factor: The serial number of the only one to challenge; `nil` for all.
    func challenge(
        _ user: String, realm: String?, factor: String?, at origin: Origin?
    ) async throws(ServerError)
        -> FactorChallenges
    /// Returns the open challenges of a factor.
    func openChallenges(of factor: String) async throws(ServerError) -> [OpenFactorChallenge]
    /// Ends a transaction.
    func cancelChallenge(_ transaction: String) async throws(ServerError)
    /// Checks a PIN that was sent for a transaction; `nil` if there is no such user.
    func check(
        _ user: String, realm: String?, pin: borrowing Secret, transaction: String, remembers: Bool
    )
        async throws(ServerError) -> FactorCheck?
    /// Checks a key's signature for a transaction.
    func check(
        _ user: String, realm: String?, _ response: AuthenticationResponse, transaction: String, remembers: Bool,
        at origin: Origin
    ) async throws(ServerError) -> FactorCheck
    /// Opens a ceremony without a user name.
    func challengePasskey(at origin: Origin) async throws(ServerError) -> PasskeyChallenge
    /// Checks a passkey's signature.
    func check(_ passkey: PasskeyAnswer, at origin: Origin) async throws(ServerError) -> FactorCheck

    // MARK: enrollment

    /// Starts the registration of a key: the server has a factor for it, which cannot be used yet.
    ///
    /// - Returns: `nil` if the answer does not say which factor.
    func startRegistration(
        _ user: String, realm: String?, _ factor: KeyFactor, at origin: Origin
    )
        async throws(ServerError) -> KeyRegistration?
    /// Ends the registration of a key.
    ///
    /// - Parameter device: The device's name, if the server accepts one with the key.
    func finishRegistration(
        _ registration: KeyRegistration, _ user: String, realm: String?, _ made: RegistrationResponse, device: String?,
        at origin: Origin
    ) async throws(ServerError)
    /// Starts the enrollment of a number or address, to which a PIN is sent if the server verifies enrollments.
    ///
    /// - Parameter destination: `nil` for the one in the user's record.
    /// - Returns: `nil` if the answer does not say which factor.
    func startEnrolment(
        _ user: String, realm: String?, _ channel: PINChannel, to destination: String?
    )
        async throws(ServerError) -> PINEnrolment?
    /// Ends the enrollment of a number or address with the PIN that was sent there.
    func finishEnrolment(
        _ factor: Factor, _ user: String, realm: String?, pin: borrowing Secret
    )
        async throws(ServerError) -> PINEnrolmentEnd

    // MARK: users

    /// Returns a user; `nil` if there is none.
    func user(_ name: String, realm: String?) async throws(ServerError) -> ServerUser?
    /// Creates a user in a user store.
    func add(_ user: NewUser, store: String) async throws(ServerError)
    /// Deletes a user of a user store.
    func deleteUser(_ name: String, store: String) async throws(ServerError)
    /// Returns the user stores of a realm, or of the default one.
    func userStores(realm: String?) async throws(ServerError) -> [String]

    // MARK: remembered devices and their clients

    /// Returns the rule by which users may have devices remembered.
    ///
    /// - Parameter days: How long a device is remembered under a new rule.
    func rememberingRule(days: Int) async throws(ServerError) -> RememberingRule
    /// Sets the rule. A rule without users must no longer apply to `user`, who was the last one in it.
    func set(_ rule: RememberingRule, without user: String) async throws(ServerError)
    /// Returns the devices that are remembered for a client.
    func rememberedDevices(of client: String) async throws(ServerError) -> [FactorDevice]
    /// Checks a device's cookie, which is used up.
    ///
    /// - Returns: Whether the device is remembered for the user, and the next cookie; an empty one if the server forgot
    ///   the device.
    func checkDevice(
        _ user: String, realm: String?, cookie: borrowing Secret
    ) async throws(ServerError)
        -> (isRemembered: Bool, cookie: SharedSecret?)
    /// Forgets a device of a client.
    func forgetDevice(_ device: String, of client: String) async throws(ServerError)
    /// Forgets all devices of a user, and returns how many.
    func forgetDevices(of user: String, realm: String?) async throws(ServerError) -> Int
    /// Returns the registered clients, without their API keys.
    func clients() async throws(ServerError) -> [FactorClient]
    /// Registers a client, and returns it with its API key.
    func addClient(_ name: String) async throws(ServerError) -> FactorClient
    /// Replaces the API key of a client, and returns it with the new one.
    func rotateClient(_ id: String) async throws(ServerError) -> FactorClient
    /// Returns the part of an API key by which the server lists it; empty if it is not an API key.
    func keyID(of apiKey: borrowing Secret) -> String
}

/// The rule by which users may have devices remembered.
public struct RememberingRule: Sendable {
    /// The users, by name.
    public var users: [String]
    /// Entries that name more than one user, in the server's form.
    public let patterns: [String]
    /// The realms it applies to; empty for all.
    public var realms: [String]
    /// Whether the server does not have it yet.
    public let isNew: Bool
    /// What the server stores with the rule, for the implementation's own use.
    public let settings: JSONValue.Object

    /// Describes a rule.
    public init(
        users: [String], patterns: [String] = [], realms: [String] = [], isNew: Bool,
        settings: JSONValue.Object = JSONValue.Object()
    ) {
        (self.users, self.patterns, self.realms) = (users, patterns, realms)
        (self.isNew, self.settings) = (isNew, settings)
    }
}
