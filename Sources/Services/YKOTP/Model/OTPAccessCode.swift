// SPDX-License-Identifier: Apache-2.0

public import YKCrypto
import YKWire

/// The six-byte access code that a slot requires before it is changed. All zeros means no code.
public struct OTPAccessCode: Sendable {
    let secret: SharedSecret

    /// Creates a code from six bytes; throws for any other length.
    public init(_ bytes: consuming Secret) throws(OTPError) {
        guard bytes.count == OTPSlotRecord.accessCodeSize else {
            throw .invalid(.length("access code", expected: 6...6, is: bytes.count))
        }
        secret = SharedSecret(bytes)
    }

    /// The six bytes; zeros if there is no code.
    static func bytes(_ code: OTPAccessCode?) -> [UInt8] {
        code?.secret.value.copyBytes() ?? OTPSlotRecord.noAccessCode
    }

    /// Whether both are the same code.
    static func areSame(_ left: OTPAccessCode?, _ right: OTPAccessCode?) -> Bool {
        constantTimeEqual(bytes(left), bytes(right))
    }
}

/// The current and the new access code of a slot.
public struct OTPAccess: Sendable {
    /// The slot's current code.
    public let current: OTPAccessCode?
    /// The slot's new code.
    public let new: OTPAccessCode?

    /// A slot without a code, before and after.
    public static let none = OTPAccess(current: nil, new: nil)

    /// A slot that keeps its code, if it has one.
    public static func keeping(_ code: OTPAccessCode?) -> OTPAccess { OTPAccess(current: code, new: code) }

    /// A slot whose code is set, changed, or removed.
    public init(current: OTPAccessCode?, new: OTPAccessCode?) {
        self.current = current
        self.new = new
    }
}
