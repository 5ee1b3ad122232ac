// SPDX-License-Identifier: Apache-2.0

public import YKCrypto
public import YKTransport
import YKWire

/// The device that a token can be bound to.
public enum DeviceBinding {
    /// Device class identifiers: a token bound to one of them works on every device of that class.
    public static let classes = [
        "556f1985-33dd-442c-9155-3a0e994f21b1",  // iPhone
        "a01c4380-fc01-4df0-b113-7fb98ec74694",  // Android
        "868c28f8-31bf-4911-9876-ebece5c3f2ab",  // BlackBerry
        "b77a1d06-d505-4200-90d3-1bb397748704",  // BlackBerry 10
        "c483b592-63f0-4f19-b4cb-a6bce8e57159",  // Windows Phone
        "8f94b226-d362-4204-ac52-3b21fa333b6f",  // Windows
        "d0955a53-569b-4ecc-9cf7-6c2a59d4e775",  // macOS
    ]

    /// Returns a new binding identifier: 24 hexadecimal digits, generated once per installation and then stored.
    public static func makeID(_ random: any RandomSource) throws(SecurIDError) -> String {
        do { return Hex.encode(try random.draw(12, secret: false)) } catch { throw .random }
    }

    /// Whether a string is a valid binding identifier.
    public static func isID(_ text: String) -> Bool {
        text.utf8.count == 24 && text.utf8.allSatisfy(\.isHexDigit)
    }

    /// Whether two identifiers name the same device: compares letters and digits only, ignoring case.
    public static func matches(_ left: String, _ right: String) -> Bool {
        alphanumeric(left) == alphanumeric(right)
    }

    /// Returns the part of an identifier that a numeric CTF string uses: the hexadecimal digits among its first `width`
    /// characters, in upper case.
    static func hexadecimal(_ text: String, width: Int) -> [UInt8] {
        Array(Array(text.utf8).prefix(width).filter(\.isHexDigit)).uppercased
    }

    /// Returns the part that stoken uses for version 1: the non-digits among the first `width` characters, in upper
    /// case.
    static func nonDecimal(_ text: String, width: Int) -> [UInt8] {
        Array(Array(text.utf8).prefix(width).filter { !$0.isDecimalDigit }).uppercased
    }

    /// Returns the part that an alphanumeric CTF string uses: the first 48 letters and digits in upper case, padded
    /// with zeros.
    static func alphanumeric(_ text: String) -> [UInt8] {
        Array(text.utf8.filter(\.isLetterOrDigit)).uppercased.fitted(48)
    }
}

extension [UInt8] {
    fileprivate var uppercased: [UInt8] { map { (0x61...0x7A).contains($0) ? $0 - 0x20 : $0 } }
}

/// The password and device identifiers that decrypt a protected token.
public struct SecurIDKeys: Sendable {
    /// The file password.
    public var password: SharedSecret?
    /// Identifiers of this device, tried in order before the device class identifiers.
    public var deviceIDs: [String]

    /// Creates keys from a password and device identifiers.
    public init(password: SharedSecret? = nil, deviceIDs: [String] = []) {
        self.password = password
        self.deviceIDs = deviceIDs
    }

    /// Returns the keys, with an empty password treated as absent. Throws `tooLong` for a password longer than any
    /// issuer uses.
    func checked() throws(SecurIDError) -> SecurIDKeys {
        guard let password else { return self }
        guard password.value.count <= SecurIDLimits.password else {
            throw .tooLong("password", limit: SecurIDLimits.password)
        }
        return password.value.isEmpty ? SecurIDKeys(deviceIDs: deviceIDs) : self
    }

    /// The identifiers to try, in order.
    var candidates: [String] { deviceIDs + DeviceBinding.classes }

    /// The error to report when no identifier matches.
    var deviceFailure: SecurIDError { deviceIDs.isEmpty ? .deviceNeeded : .wrongDevice }
}
