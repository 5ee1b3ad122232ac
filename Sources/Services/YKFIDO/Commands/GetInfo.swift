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
