// SPDX-License-Identifier: Apache-2.0

public import YKHTTP
import YKWire

/// An entry of the server's audit log.
public struct AuditEntry: Hashable, Sendable {
    /// The number of the entry.
    public let number: Int
    /// The time, as the server writes it.
    public let date: String
    /// The method and path, such as `POST /validate/check`.
    public let action: String
    /// Whether the request succeeded.
    public let isSuccess: Bool
    /// The result of an authentication.
    public let authentication: PrivacyIDEAAnswer.Authentication?
    /// The token.
    public let serial: String?
    /// The owner of the token.
    public let user: String?
    /// The address of the client.
    public let client: String?
    /// The reason, as the server writes it.
    public let info: String
    /// Details, such as the status and reason of a push answer.
    public let detail: String

    init(_ json: JSONValue) throws(ServerError) {
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

/// An entry of the server's authentication log.
public struct AuthenticationEntry: Hashable, Sendable {
    /// The event, such as `LOGIN_SUCCESS`. An open set.
    public let event: String
    /// The time, as the server writes it.
    public let date: String
    /// The path of the request.
    public let endpoint: String
    /// The user.
    public let user: String?
    /// The token.
    public let serial: String?
    /// The address of the client.
    public let address: String?
    /// The transaction.
    public let transactionID: String?

    init(_ json: JSONValue) throws(ServerError) {
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

/// A challenge that a factor has not yet answered, or whose answer was not yet used.
public struct OpenFactorChallenge: Hashable, Sendable {
    /// The serial number of the factor.
    public let serial: String
    /// The transaction.
    public let transactionID: String
    /// The expiry, in seconds since 1970-01-01 00:00 UTC.
    public let expiry: Int64?
    /// Whether it was answered correctly.
    public let isAnswered: Bool

    /// Describes an open challenge.
    public init(serial: String, transactionID: String, expiry: Int64?, isAnswered: Bool) {
        (self.serial, self.transactionID, self.expiry, self.isAnswered) = (serial, transactionID, expiry, isAnswered)
    }

    init(_ json: JSONValue) throws(ServerError) {
        guard let serial = json["serial"]?.filled, let id = json["transaction_id"]?.filled else {
            throw .malformed("a challenge cannot be read")
        }
        self.init(
            serial: serial, transactionID: id, expiry: ServerTime.seconds(json["expiration"]),
            isAnswered: json["otp_valid"]?.bool ?? false)
    }
}

extension PrivacyIDEA {
    /// Returns the newest entries of the audit log (`GET /audit/`); users see only their own.
    public func audit(user: String? = nil, count: Int = 20) async throws(ServerError) -> [AuditEntry] {
        let answer = try await call(
            .get, "/audit/",
            [
                "user": user.map(JSONValue.string) ?? .null, "page_size": .int(Int64(count)),
                "pagesize": .int(Int64(count)), "sortorder": "desc",
            ])
        guard let rows = answer.value["auditdata"]?.array else { throw .malformed("the audit log is missing") }
        var entries: [AuditEntry] = []
        for row in rows.prefix(count) { entries.append(try AuditEntry(row)) }
        return entries
    }

    /// Returns the newest entries of the authentication log (`GET /authenticationlog/`).
    public func authenticationLog(user: String, count: Int = 20) async throws(ServerError) -> [AuthenticationEntry] {
        let answer = try await call(
            .get, "/authenticationlog/", ["username": .string(user), "pagesize": .int(Int64(count))])
        guard let rows = answer.value["auth_logs"]?.array else { throw .malformed("the log is missing") }
        var entries: [AuthenticationEntry] = []
        for row in rows.prefix(count) { entries.append(try AuthenticationEntry(row)) }
        return entries
    }

    /// Cancels the challenges of a transaction (`DELETE /token/challenges/transaction/ID`).
    public func cancelChallenge(_ transaction: String) async throws(ServerError) {
        _ = try await call(.delete, "/token/challenges/transaction/\(PathSegment.encode(transaction))")
    }

    /// Returns the open challenges of a token (`GET /token/challenges/SERIAL`).
    public func openChallenges(of factor: String) async throws(ServerError) -> [OpenFactorChallenge] {
        let answer = try await call(.get, "/token/challenges/\(PathSegment.encode(factor))", ["pagesize": 1000])
        guard let rows = answer.value["challenges"]?.array else { throw .malformed("the challenges are missing") }
        var challenges: [OpenFactorChallenge] = []
        for row in rows { challenges.append(try OpenFactorChallenge(row)) }
        return challenges
    }
}
