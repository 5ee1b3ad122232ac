// SPDX-License-Identifier: Apache-2.0

public import YKCrypto
public import YKTransport
import YKWire

/// The device that a token may be bound to.
public enum DeviceBinding {
    /// Identifiers that stand for any device of a class: a token that is bound to one is meant for all of them.
    public static let classes = [
        "556f1985-33dd-442c-9155-3a0e994f21b1",  // iPhone
        "a01c4380-fc01-4df0-b113-7fb98ec74694",  // Android
        "868c28f8-31bf-4911-9876-ebece5c3f2ab",  // BlackBerry
        "b77a1d06-d505-4200-90d3-1bb397748704",  // BlackBerry 10
        "c483b592-63f0-4f19-b4cb-a6bce8e57159",  // Windows Phone
        "8f94b226-d362-4204-ac52-3b21fa333b6f",  // Windows
        "d0955a53-569b-4ecc-9cf7-6c2a59d4e775",  // macOS
    ]

    /// A new binding identifier: 24 hexadecimal digits, drawn once for an installation and then kept.
    public static func makeID(_ random: any RandomSource) throws(SecurIDError) -> String {
        do { return Hex.encode(try random.draw(12, secret: false)) } catch { throw .random }
    }

    /// Whether a text can be a binding identifier.
    public static func isID(_ text: String) -> Bool {
        text.utf8.count == 24 && text.utf8.allSatisfy(\.isHexDigit)
    }

    /// Whether two identifiers name the same device: letters and digits count, their case does not.
    public static func matches(_ left: String, _ right: String) -> Bool {
        alphanumeric(left) == alphanumeric(right)
    }

    /// What a numeric CTF string takes of an identifier: of its first `width` characters the hexadecimal digits, in
    /// upper case.
    static func hexadecimal(_ text: String, width: Int) -> [UInt8] {
        Array(Array(text.utf8).prefix(width).filter(\.isHexDigit)).uppercased
    }

    /// What stoken takes for version 1: of the first `width` characters those that are not decimal digits, in upper case.
    static func nonDecimal(_ text: String, width: Int) -> [UInt8] {
        Array(Array(text.utf8).prefix(width).filter { !$0.isDecimalDigit }).uppercased
    }

    /// What an alphanumeric CTF string takes: letters and digits in upper case, the first 48, zeros behind them.
    static func alphanumeric(_ text: String) -> [UInt8] {
        Array(text.utf8.filter(\.isLetterOrDigit)).uppercased.fitted(48)
    }
}

extension [UInt8] {
    fileprivate var uppercased: [UInt8] { map { (0x61...0x7A).contains($0) ? $0 - 0x20 : $0 } }
}

/// What a protected token is opened with.
public struct SecurIDKeys: Sendable {
    /// The file password.
    public var password: SharedSecret?
    /// Identifiers of this device, tried in order; the identifiers of classes are tried after them.
    public var deviceIDs: [String]

    /// Takes a password and device identifiers.
    public init(password: SharedSecret? = nil, deviceIDs: [String] = []) {
        self.password = password
        self.deviceIDs = deviceIDs
    }

    /// The keys with an empty password as none. Throws `tooLong` for a password that no issuer makes.
    func checked() throws(SecurIDError) -> SecurIDKeys {
        guard let password else { return self }
        guard password.value.count <= SecurIDLimits.password else {
            throw .tooLong("password", limit: SecurIDLimits.password)
        }
        return password.value.isEmpty ? SecurIDKeys(deviceIDs: deviceIDs) : self
    }

    /// The identifiers to try.
    var candidates: [String] { deviceIDs + DeviceBinding.classes }

    /// What to report when none of them fits.
    var deviceFailure: SecurIDError { deviceIDs.isEmpty ? .deviceNeeded : .wrongDevice }
}
