// SPDX-License-Identifier: Apache-2.0

public import YKCrypto
public import YKHTTP
import YKTransport
public import YKWire

/// An unanswered challenge (`detail.multi_challenge`).
public struct PrivacyIDEAChallenge: Hashable, Sendable {
    /// The token that must answer it.
    public let serial: String
    /// The kind of the token.
    public let type: Factor.Kind
    /// The transaction, which the response names.
    public let transactionID: String
    /// A message for the user, as received from the server.
    public let message: String
    /// `interactive`, `poll` or `webauthn`.
    public let clientMode: String
    /// Further values, such as `webAuthnSignRequest`.
    public let attributes: JSONValue
    /// The expiry, in seconds since 1970-01-01 00:00 UTC; `nil` if the server does not report it.
    public let expiry: Int64?

    init?(_ json: JSONValue) {
        guard let serial = json["serial"]?.filled, let type = json["type"]?.filled,
            let id = json["transaction_id"]?.filled
        else { return nil }
        self.serial = serial
        self.type = Factor.Kind(rawValue: type)
        transactionID = id
        message = json["message"]?.string ?? ""
        clientMode = json["client_mode"]?.string ?? ""
        attributes = json["attributes"] ?? .null
        expiry = ServerTime.seconds(attributes["valid_until"])
    }
}

extension PrivacyIDEAAnswer {
    /// The challenges opened by a check or a trigger.
    public var challenges: [PrivacyIDEAChallenge] {
        (detail["multi_challenge"]?.array ?? []).compactMap(PrivacyIDEAChallenge.init)
    }
}

/// The status of a challenge that is answered on another device.
public struct ChallengeStatus: OpenSet {
    /// The server's word.
    public let rawValue: String
    /// Wraps the server's word.
    public init(rawValue: String) { self.rawValue = rawValue }
    /// Not answered yet.
    public static let pending = ChallengeStatus(rawValue: "pending")
    /// Approved.
    public static let accepted = ChallengeStatus(rawValue: "accept")
    /// Declined because the user did not start the login.
    public static let declined = ChallengeStatus(rawValue: "declined")
    /// Declined for another reason.
    public static let cancelled = ChallengeStatus(rawValue: "cancelled")
}

extension PrivacyIDEA {
    /// Checks a PIN, a code, a password or the response to a challenge (`POST /validate/check`).
    ///
    /// - Parameters:
    ///   - user: The user; `nil` if the response identifies the user.
    ///   - pass: The text entered; empty if the response is in `response`.
    ///   - transaction: The challenge being answered.
    ///   - response: The members of a FIDO2 response.
    ///   - remembers: Whether the server should remember this device; requires an API key and a policy. The server then
    ///     recognizes the device by the answer's cookie `pi_remember_device`.
    /// - Returns: An answer whose ``PrivacyIDEAAnswer/authentication`` is the result of the check.
    public func check(
        _ user: String?, realm: String? = nil, _ pass: borrowing Secret, transaction: String? = nil,
        response: JSONValue = [:], remembers: Bool = false
    ) async throws(ServerError) -> PrivacyIDEAAnswer {
        var sent = response.object ?? JSONValue.Object()
        if let user {
            sent["user"] = .string(user)
            sent["realm"] = realm.map(JSONValue.string)
            sent["pass"] = .string(pass.text())
        }
        if let transaction { sent["transaction_id"] = .string(transaction) }
        if remembers { sent["request_persistent_cookie"] = "1" }
        return try await call(.post, "/validate/check", .object(sent), as: .form)
    }

    /// Triggers challenges without the token's PIN (`POST /validate/triggerchallenge`), as a service account.
    ///
    /// - Parameters:
    ///   - serial: The only token to challenge; `nil` for all tokens of the user.
    public func triggerChallenge(
        _ user: String?, realm: String? = nil, serial: String? = nil
    ) async throws(ServerError) -> PrivacyIDEAAnswer {
        try await call(
            .post, "/validate/triggerchallenge",
            [
                "user": user.map(JSONValue.string) ?? .null, "realm": realm.map(JSONValue.string) ?? .null,
                "serial": serial.map(JSONValue.string) ?? .null,
            ], as: .form)
    }

    /// Returns the status of a challenge that is answered on another device (`GET /validate/polltransaction`).
    public func pollTransaction(_ id: String) async throws(ServerError) -> ChallengeStatus {
        let answer = try await call(.get, "/validate/polltransaction", ["transaction_id": .string(id)])
        return ChallengeStatus(rawValue: answer.detail["challenge_status"]?.string ?? "")
    }

    /// The name of the cookie by which the server recognizes a device.
    public static let deviceCookie = "pi_remember_device"

    /// Checks whether this device is remembered (`POST /validate/remember_device`), with an API key.
    ///
    /// - Parameters:
    ///   - cookie: The value set by the last answer. It is used up; only the returned one is valid afterwards.
    /// - Returns: Whether the device is remembered for this user, and the next cookie. An empty cookie means that the
    ///   server forgot the device, as it does when a cookie older than the last is presented.
    public func checkDevice(
        _ user: String, realm: String?, cookie: borrowing Secret
    ) async throws(ServerError) -> (isRemembered: Bool, cookie: SharedSecret?) {
        let answer = try await call(
            .post, "/validate/remember_device", ["user": .string(user), "realm": realm.map(JSONValue.string) ?? .null],
            as: .form, fields: [HTTPField("Cookie", "\(Self.deviceCookie)=\(cookie.text())")])
        guard let isRemembered = answer.value.bool else {
            throw .malformed("the answer does not say whether the device is remembered")
        }
        return (isRemembered, answer.deviceCookie)
    }

    /// Whether the server allows this API client to have devices remembered (`GET /validate/capabilities`).
    public func remembersDevices() async throws(ServerError) -> Bool {
        try await call(.get, "/validate/capabilities").value["capabilities"]?["remember_device"]?.bool ?? false
    }
}

extension PrivacyIDEAAnswer {
    /// The cookie of a remembered device, if the answer sets one.
    public var deviceCookie: SharedSecret? {
        cookies[PrivacyIDEA.deviceCookie].map { SharedSecret(Secret(utf8: $0)) }
    }
}
