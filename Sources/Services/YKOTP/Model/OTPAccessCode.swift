// SPDX-License-Identifier: Apache-2.0

public import YKCrypto
import YKWire

/// The six bytes that a slot asks for before it lets itself be changed. All zeros is no code.
public struct OTPAccessCode: Sendable {
    let secret: SharedSecret

    /// Takes six bytes over; another number throws.
    public init(_ bytes: consuming Secret) throws(OTPError) {
        guard bytes.count == OTPSlotRecord.accessCodeSize else {
            throw .invalid(.length("access code", expected: 6...6, is: bytes.count))
        }
        secret = SharedSecret(bytes)
    }

    /// The six bytes; zeros where there is no code.
    static func bytes(_ code: OTPAccessCode?) -> [UInt8] {
        code?.secret.value.copyBytes() ?? OTPSlotRecord.noAccessCode
    }

    /// Whether both are the same code.
    static func areSame(_ left: OTPAccessCode?, _ right: OTPAccessCode?) -> Bool {
        constantTimeEqual(bytes(left), bytes(right))
    }
}

/// The access code that a slot has, and the one that it gets.
public struct OTPAccess: Sendable {
    /// The code that the slot has.
    public let current: OTPAccessCode?
    /// The code that it has afterwards.
    public let new: OTPAccessCode?

    /// A slot without a code that gets none.
    public static let none = OTPAccess(current: nil, new: nil)

    /// A slot that keeps its code, if it has one.
    public static func keeping(_ code: OTPAccessCode?) -> OTPAccess { OTPAccess(current: code, new: code) }

    /// A slot whose code is set, changed, or removed.
    public init(current: OTPAccessCode?, new: OTPAccessCode?) {
        self.current = current
        self.new = new
    }
}
