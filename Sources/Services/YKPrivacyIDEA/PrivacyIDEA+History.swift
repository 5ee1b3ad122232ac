// SPDX-License-Identifier: Apache-2.0

import YKHTTP
import YKWire

/// A line of the server's audit log.
public struct AuditEntry: Hashable, Sendable {
    /// Its number.
    public let number: Int
    /// When, as the server writes it.
    public let date: String
    /// Method and path, such as `POST /validate/check`.
    public let action: String
    /// Whether it succeeded.
    public let isSuccess: Bool
    /// The decision about an authentication.
    public let authentication: PrivacyIDEAAnswer.Authentication?
    /// The token.
    public let serial: String?
    /// Whose.
    public let user: String?
    /// From which address.
    public let client: String?
    /// Why, in the server's words.
    public let info: String
    /// Details, such as a push answer's status and reason.
    public let detail: String

    init(_ json: JSON) throws(PrivacyIDEAError) {
        guard let number = json["number"]?.count, let action = json["action"]?.string else {
            throw .malformed("a line of the audit log cannot be read")
        }
        self.number = number
        self.action = action
        date = json["date"]?.string ?? ""
        isSuccess = json["success"]?.bool ?? (json["success"]?.int == 1)
        authentication = json["authentication"]?.filled.map(PrivacyIDEAAnswer.Authentication.init)
        serial = json["serial"]?.filled
        user = json["user"]?.filled
        client = json["client"]?.filled
        info = json["info"]?.string ?? ""
        detail = json["action_detail"]?.string ?? ""
    }
}

/// A line of the server's authentication log.
public struct AuthenticationEntry: Hashable, Sendable {
    /// What happened, such as `LOGIN_SUCCESS`. An open set.
    public let event: String
    /// When, as the server writes it.
    public let date: String
    /// The path of the request.
    public let endpoint: String
    /// Whose.
    public let user: String?
    /// The token.
    public let serial: String?
    /// From which address.
    public let address: String?
    /// The transaction.
    public let transactionID: String?

    init(_ json: JSON) throws(PrivacyIDEAError) {
        guard let event = json["event_type"]?.string else {
            throw .malformed("a line of the authentication log cannot be read")
        }
        self.event = event
        date = json["timestamp"]?.string ?? ""
        endpoint = json["endpoint"]?.string ?? ""
        user = json["username"]?.filled
        serial = json["serial"]?.filled
        address = json["source_ip"]?.filled
        transactionID = json["transaction_id"]?.filled
    }
}

/// A challenge that the server holds open.
public struct OpenChallenge: Hashable, Sendable {
    /// The token.
    public let serial: String
    /// The transaction.
    public let transactionID: String
    /// When it expires, in seconds since 1970-01-01 00:00 UTC.
    public let expiry: Int64?
    /// Whether it was answered rightly.
    public let isAnswered: Bool

    init(_ json: JSON) throws(PrivacyIDEAError) {
        guard let serial = json["serial"]?.filled, let id = json["transaction_id"]?.filled else {
            throw .malformed("a challenge cannot be read")
        }
        self.serial = serial
        transactionID = id
        expiry = ServerTime.seconds(json["expiration"])
        isAnswered = json["otp_valid"]?.bool ?? false
    }
}

extension PrivacyIDEA {
    /// The newest lines of the audit log (`GET /audit/`); users see their own.
    public func audit(user: String? = nil, count: Int = 20) async throws(PrivacyIDEAError) -> [AuditEntry] {
        let answer = try await call(
            .get, "/audit/",
            [
                "user": user.map(JSON.string) ?? .null, "page_size": .int(Int64(count)),
                "pagesize": .int(Int64(count)), "sortorder": "desc",
            ])
        guard let rows = answer.value["auditdata"]?.array else { throw .malformed("the audit log is missing") }
        var entries: [AuditEntry] = []
        for row in rows.prefix(count) { entries.append(try AuditEntry(row)) }
        return entries
    }

    /// The newest lines of the authentication log (`GET /authenticationlog/`).
    public func authenticationLog(user: String, count: Int = 20) async throws(PrivacyIDEAError) -> [AuthenticationEntry]
    {
        let answer = try await call(
            .get, "/authenticationlog/", ["username": .string(user), "pagesize": .int(Int64(count))])
        guard let rows = answer.value["auth_logs"]?.array else { throw .malformed("the log is missing") }
        var entries: [AuthenticationEntry] = []
        for row in rows.prefix(count) { entries.append(try AuthenticationEntry(row)) }
        return entries
    }

    /// The open challenges (`GET /token/challenges/`).
    ///
    /// - Parameters:
    ///   - serial: The token that they are for; `nil` for all.
    public func openChallenges(serial: String? = nil) async throws(PrivacyIDEAError) -> [OpenChallenge] {
        let path = "/token/challenges/" + (serial.map(PathSegment.encode) ?? "")
        let answer = try await call(.get, path, ["pagesize": 1000])
        guard let rows = answer.value["challenges"]?.array else { throw .malformed("the challenges are missing") }
        var challenges: [OpenChallenge] = []
        for row in rows { challenges.append(try OpenChallenge(row)) }
        return challenges
    }
}
