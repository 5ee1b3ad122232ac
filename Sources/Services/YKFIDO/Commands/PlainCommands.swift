// SPDX-License-Identifier: Apache-2.0

public import YKWire

/// Reads the key's capabilities (authenticatorGetInfo, CTAP 2.2 §6.4).
public struct GetInfo: CTAPCommand, Sendable, Hashable {
    /// Creates a command.
    public init() {}
    /// The command byte.
    public var code: CTAPCommandCode { .getInfo }
    /// The name in the specification.
    public var name: String { "getInfo" }
    /// No parameters.
    public var parameters: CBOR.Map? { nil }
    /// Reads the answer.
    public func decode(_ fields: CBOR.Fields) throws(WireError) -> AuthenticatorInfo {
        try AuthenticatorInfo(fields)
    }
}

/// Erases all credentials and the PIN (authenticatorReset, CTAP 2.2 §6.6). Most keys accept it only within ten seconds
/// after being plugged in, and require a touch.
public struct ResetAuthenticator: CTAPCommand, Sendable, Hashable {
    /// No response data.
    public typealias Response = Void
    /// Creates a command.
    public init() {}
    /// The command byte.
    public var code: CTAPCommandCode { .reset }
    /// The name in the specification.
    public var name: String { "reset" }
    /// No parameters.
    public var parameters: CBOR.Map? { nil }
}

/// Waits for a touch, so that the user can select one of several keys (authenticatorSelection, CTAP 2.2 §6.9).
public struct SelectAuthenticator: CTAPCommand, Sendable, Hashable {
    /// No response data.
    public typealias Response = Void
    /// Creates a command.
    public init() {}
    /// The command byte.
    public var code: CTAPCommandCode { .selection }
    /// The name in the specification.
    public var name: String { "selection" }
    /// No parameters.
    public var parameters: CBOR.Map? { nil }
}
