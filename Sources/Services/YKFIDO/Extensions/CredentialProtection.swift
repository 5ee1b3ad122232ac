// SPDX-License-Identifier: Apache-2.0

public import YKWire

/// When a credential can be used without user verification (credProtect, CTAP 2.2 §12.1).
public struct CredentialProtection: OpenSet {
    /// The level.
    public let rawValue: UInt64
    /// Wraps a level.
    public init(rawValue: UInt64) { self.rawValue = rawValue }
    /// Always usable.
    public static let optional = CredentialProtection(rawValue: 1)
    /// Usable if its identifier is given.
    public static let optionalWithList = CredentialProtection(rawValue: 2)
    /// Never usable.
    public static let required = CredentialProtection(rawValue: 3)

    /// WebAuthn's name for the level.
    public var description: String {
        switch self {
        case .optional: "userVerificationOptional"
        case .optionalWithList: "userVerificationOptionalWithCredentialIDList"
        case .required: "userVerificationRequired"
        default: "level \(rawValue)"
        }
    }
}
