// SPDX-License-Identifier: Apache-2.0

/// What a browser calls a failure (Web IDL §2.8.1, WebAuthn Level 3 §5.1.3.1 and §5.1.4.3). An open set.
public struct DOMExceptionName: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    /// The name.
    public let rawValue: String
    /// Wraps a name.
    public init(rawValue: String) { self.rawValue = rawValue }
    /// A member of the options is missing or of the wrong type.
    public static let type = DOMExceptionName(rawValue: "TypeError")
    /// A text is not in the form that it has to have.
    public static let syntax = DOMExceptionName(rawValue: "SyntaxError")
    /// The origin may not ask, or not for this relying party.
    public static let security = DOMExceptionName(rawValue: "SecurityError")
    /// The user or the key did not agree, or not in time.
    public static let notAllowed = DOMExceptionName(rawValue: "NotAllowedError")
    /// The key has one of the excluded credentials.
    public static let invalidState = DOMExceptionName(rawValue: "InvalidStateError")
    /// The key cannot store credentials, or cannot verify its user, and that was required.
    public static let constraint = DOMExceptionName(rawValue: "ConstraintError")
    /// Something that was asked for does not exist.
    public static let notSupported = DOMExceptionName(rawValue: "NotSupportedError")
    /// The operation was called off.
    public static let abort = DOMExceptionName(rawValue: "AbortError")
    /// Anything else.
    public static let unknown = DOMExceptionName(rawValue: "UnknownError")

    /// The name.
    public var description: String { rawValue }
}
