// SPDX-License-Identifier: Apache-2.0

/// What a validation server says of a password (Validation Protocol 2.0, "status"). An open set.
public struct ValidationStatus: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    /// The word in the reply.
    public let rawValue: String
    /// Wraps a word.
    public init(rawValue: String) { self.rawValue = rawValue }
    /// The word in the reply.
    public var description: String { rawValue }

    /// The password is good.
    public static let ok = ValidationStatus(rawValue: "OK")
    /// The password is no password, or of no key that the server knows.
    public static let badOTP = ValidationStatus(rawValue: "BAD_OTP")
    /// The password was used before.
    public static let replayedOTP = ValidationStatus(rawValue: "REPLAYED_OTP")
    /// The request was not signed as the server expects.
    public static let badSignature = ValidationStatus(rawValue: "BAD_SIGNATURE")
    /// The request lacks something.
    public static let missingParameter = ValidationStatus(rawValue: "MISSING_PARAMETER")
    /// The server does not know the client's number.
    public static let noSuchClient = ValidationStatus(rawValue: "NO_SUCH_CLIENT")
    /// The client may not ask.
    public static let operationNotAllowed = ValidationStatus(rawValue: "OPERATION_NOT_ALLOWED")
    /// The server is out of order.
    public static let backendError = ValidationStatus(rawValue: "BACKEND_ERROR")
    /// Too few other servers confirmed in time.
    public static let notEnoughAnswers = ValidationStatus(rawValue: "NOT_ENOUGH_ANSWERS")
    /// The same request was answered before.
    public static let replayedRequest = ValidationStatus(rawValue: "REPLAYED_REQUEST")

    /// Whether another server may know better.
    var isTemporary: Bool { self == .backendError || self == .notEnoughAnswers }
    /// Whether the server may have no key to sign with, and so the word needs no signature to be believed: it refuses.
    var isUnsigned: Bool {
        [.badSignature, .missingParameter, .noSuchClient, .operationNotAllowed, .backendError].contains(self)
    }
}
