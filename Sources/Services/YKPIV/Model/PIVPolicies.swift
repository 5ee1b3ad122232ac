// SPDX-License-Identifier: Apache-2.0

/// When a key needs the PIN (Yubico). An open set.
public struct PINPolicy: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    /// The code.
    public let rawValue: UInt8
    /// Wraps a code.
    public init(rawValue: UInt8) { self.rawValue = rawValue }
    private init(_ rawValue: UInt8) { self.rawValue = rawValue }

    /// What is usual for the slot: always in 9C, never in 9E, else once.
    public static let usual = PINPolicy(0)
    /// Never.
    public static let never = PINPolicy(1)
    /// Once in a session.
    public static let once = PINPolicy(2)
    /// Before every use.
    public static let always = PINPolicy(3)
    /// A fingerprint or the PIN once in a session.
    public static let matchOnce = PINPolicy(4)
    /// A fingerprint or the PIN before every use.
    public static let matchAlways = PINPolicy(5)

    static let names = ["default", "never", "once", "always", "match-once", "match-always"]

    /// Reads a name; `nil` for any other text.
    public init?(_ text: String) {
        guard let code = Self.names.firstIndex(of: text.lowercased()) else { return nil }
        rawValue = UInt8(code)
    }

    /// The name, else the code.
    public var description: String {
        Self.names.indices.contains(Int(rawValue)) ? Self.names[Int(rawValue)] : "policy \(rawValue)"
    }
}

/// When a key needs a touch (Yubico). An open set.
public struct TouchPolicy: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    /// The code.
    public let rawValue: UInt8
    /// Wraps a code.
    public init(rawValue: UInt8) { self.rawValue = rawValue }
    private init(_ rawValue: UInt8) { self.rawValue = rawValue }

    /// What is usual: never.
    public static let usual = TouchPolicy(0)
    /// Never.
    public static let never = TouchPolicy(1)
    /// For every use.
    public static let always = TouchPolicy(2)
    /// For a use more than 15 seconds after the last touch.
    public static let cached = TouchPolicy(3)

    static let names = ["default", "never", "always", "cached"]

    /// Reads a name; `nil` for any other text.
    public init?(_ text: String) {
        guard let code = Self.names.firstIndex(of: text.lowercased()) else { return nil }
        rawValue = UInt8(code)
    }

    /// The name, else the code.
    public var description: String {
        Self.names.indices.contains(Int(rawValue)) ? Self.names[Int(rawValue)] : "policy \(rawValue)"
    }
}

/// When a key may be used.
public struct KeyPolicies: Hashable, Sendable {
    /// When it needs the PIN.
    public var pin: PINPolicy
    /// When it needs a touch.
    public var touch: TouchPolicy

    /// Makes policies; what is usual unless told otherwise.
    public init(pin: PINPolicy = .usual, touch: TouchPolicy = .usual) {
        self.pin = pin
        self.touch = touch
    }
}
