// SPDX-License-Identifier: Apache-2.0

public import YKWire

/// A browser's name for an error (Web IDL §2.8.1, WebAuthn Level 3 §5.1.3.1 and §5.1.4.3).
public struct DOMExceptionName: OpenSet {
    /// The name.
    public let rawValue: String
    /// Wraps a name.
    public init(rawValue: String) { self.rawValue = rawValue }
    /// A member of the options is missing or of the wrong type.
    public static let type = DOMExceptionName(rawValue: "TypeError")
    /// A string has the wrong syntax.
    public static let syntax = DOMExceptionName(rawValue: "SyntaxError")
    /// The origin is not allowed to make requests, or not for this relying party.
    public static let security = DOMExceptionName(rawValue: "SecurityError")
    /// The user or the key refused, or the request timed out.
    public static let notAllowed = DOMExceptionName(rawValue: "NotAllowedError")
    /// The key has one of the excluded credentials.
    public static let invalidState = DOMExceptionName(rawValue: "InvalidStateError")
    /// The key lacks required support for discoverable credentials or user verification.
    public static let constraint = DOMExceptionName(rawValue: "ConstraintError")
    /// A requested feature is not supported.
    public static let notSupported = DOMExceptionName(rawValue: "NotSupportedError")
    /// The operation was cancelled.
    public static let abort = DOMExceptionName(rawValue: "AbortError")
    /// Anything else.
    public static let unknown = DOMExceptionName(rawValue: "UnknownError")

}
