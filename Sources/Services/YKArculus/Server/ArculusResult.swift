// SPDX-License-Identifier: Apache-2.0

public import YKWire

/// What every call of Arculus' SDK answers, as a JSON text.
public struct ArculusResult: Hashable, Sendable {
    /// How it went. An open set.
    public struct Status: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
        /// The word.
        public let rawValue: String
        /// Wraps a word.
        public init(rawValue: String) { self.rawValue = rawValue }
        /// Done.
        public static let ok = Status(rawValue: "ok")
        /// Not done.
        public static let failed = Status(rawValue: "failed")
        /// Not done, as the server's session is over.
        public static let noSession = Status(rawValue: "false")
        /// The word.
        public var description: String { rawValue }
    }

    /// How it went.
    public var status: Status
    /// Why not; empty when done.
    public var errorMessage: String
    /// The code in letters: of the card, of the server, or the HTTP status.
    public var statuscode: String
    /// The code as a number: of the card, or the HTTP status.
    public var responseCode: Int

    /// Creates a result.
    public init(status: Status, errorMessage: String, statuscode: String, responseCode: Int) {
        self.status = status
        self.errorMessage = errorMessage
        self.statuscode = statuscode
        self.responseCode = responseCode
    }

    /// Done.
    public static let ok = ArculusResult(status: .ok, errorMessage: "", statuscode: "200", responseCode: 200)

    /// The four members.
    public var json: JSON {
        [
            "status": .string(status.rawValue), "errorMessage": .string(errorMessage),
            "statuscode": .string(statuscode), "responseCode": .int(Int64(responseCode)),
        ]
    }
}
