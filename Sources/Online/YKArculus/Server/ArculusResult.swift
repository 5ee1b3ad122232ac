// SPDX-License-Identifier: Apache-2.0

public import YKWire

/// The result of a call of Arculus' SDK, in JSON form.
public struct ArculusResult: Hashable, Sendable {
    /// The status of a result.
    public struct Status: OpenSet {
        /// The word.
        public let rawValue: String
        /// Wraps a word.
        public init(rawValue: String) { self.rawValue = rawValue }
        /// The call succeeded.
        public static let ok = Status(rawValue: "ok")
        /// The call failed.
        public static let failed = Status(rawValue: "failed")
        /// The call failed because the server's session has expired.
        public static let noSession = Status(rawValue: "false")
    }

    /// The status.
    public var status: Status
    /// The error message; empty on success.
    public var errorMessage: String
    /// The code as a string: from the card, from the server, or the HTTP status.
    public var statuscode: String
    /// The code as a number: from the card, or the HTTP status.
    public var responseCode: Int

    /// Creates a result.
    public init(status: Status, errorMessage: String, statuscode: String, responseCode: Int) {
        self.status = status
        self.errorMessage = errorMessage
        self.statuscode = statuscode
        self.responseCode = responseCode
    }

    /// The result of a successful call.
    public static let ok = ArculusResult(status: .ok, errorMessage: "", statuscode: "200", responseCode: 200)

    /// The result as a JSON object with the four members.
    public var json: JSONValue {
        [
            "status": .string(status.rawValue), "errorMessage": .string(errorMessage),
            "statuscode": .string(statuscode), "responseCode": .int(Int64(responseCode)),
        ]
    }
}
