// SPDX-License-Identifier: Apache-2.0

/// The enabled USB interfaces of a key before firmware 5, as one number (Yubico management interface, SET MODE).
public struct USBMode: Hashable, Sendable, CustomStringConvertible {
    /// The interfaces.
    public let interfaces: USBInterfaces

    /// The modes 0 to 6.
    private static let modes: [USBInterfaces] = [
        .otp, .ccid, [.otp, .ccid], .fido, [.otp, .fido], [.fido, .ccid], [.otp, .fido, .ccid],
    ]

    /// The mode with these interfaces; `nil` if there is none.
    public init?(_ interfaces: USBInterfaces) {
        guard Self.modes.contains(interfaces) else { return nil }
        self.interfaces = interfaces
    }

    /// The mode with this number, in the low three bits; `nil` for 7.
    public init?(code: UInt8) {
        guard Self.modes.indices.contains(Int(code & 7)) else { return nil }
        interfaces = Self.modes[Int(code & 7)]
    }

    /// Parses a number from 0 to 6, or names such as `OTP+FIDO+CCID`, `o+f+c` or `U2F+CCID`; `nil` for any other
    /// string.
    public init?(_ text: String) {
        if let code = UInt8(text) {
            guard code < 7 else { return nil }
            self.init(code: code)
            return
        }
        var found: USBInterfaces = []
        for word in text.uppercased().split(separator: "+", omittingEmptySubsequences: false) {
            let names = USBInterfaces.all + [(.fido, "U2F")]
            guard !word.isEmpty, let match = names.first(where: { $0.name.hasPrefix(word) }) else { return nil }
            found.insert(match.interface)
        }
        self.init(found)
    }

    /// Its number.
    public var code: UInt8 { UInt8(Self.modes.firstIndex(of: interfaces) ?? 0) }
    /// The names of the interfaces.
    public var description: String { interfaces.description }
}
