// SPDX-License-Identifier: Apache-2.0

public import YKWire

/// The status in a validation server's reply (Validation Protocol 2.0, "status").
public struct ValidationStatus: OpenSet {
    /// The word in the reply.
    public let rawValue: String
    /// Wraps a word.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The password is valid.
    public static let ok = ValidationStatus(rawValue: "OK")
    /// The password is malformed, or from a key unknown to the server.
    public static let badOTP = ValidationStatus(rawValue: "BAD_OTP")
    /// The password was used before.
    public static let replayedOTP = ValidationStatus(rawValue: "REPLAYED_OTP")
    /// The request was not signed as the server expects.
    public static let badSignature = ValidationStatus(rawValue: "BAD_SIGNATURE")
    /// A parameter is missing from the request.
    public static let missingParameter = ValidationStatus(rawValue: "MISSING_PARAMETER")
    /// The server does not know the client's identifier.
    public static let noSuchClient = ValidationStatus(rawValue: "NO_SUCH_CLIENT")
    /// The client is not allowed to make requests.
    public static let operationNotAllowed = ValidationStatus(rawValue: "OPERATION_NOT_ALLOWED")
    /// The server has an internal error.
    public static let backendError = ValidationStatus(rawValue: "BACKEND_ERROR")
    /// Too few other servers confirmed in time.
    public static let notEnoughAnswers = ValidationStatus(rawValue: "NOT_ENOUGH_ANSWERS")
    /// The same request was answered before.
    public static let replayedRequest = ValidationStatus(rawValue: "REPLAYED_REQUEST")

    /// Whether another server may give a different answer.
    var isTemporary: Bool { self == .backendError || self == .notEnoughAnswers }
    /// Whether the status is a refusal that is accepted unsigned, because the server may have no key to sign with.
    var isUnsigned: Bool {
        [.badSignature, .missingParameter, .noSuchClient, .operationNotAllowed, .backendError].contains(self)
    }
}
