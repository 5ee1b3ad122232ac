// SPDX-License-Identifier: Apache-2.0

public import YKWire

/// When a key requires the PIN (Yubico).
public struct PINPolicy: OpenSet {
    /// The code.
    public let rawValue: UInt8
    /// Wraps a code.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// The slot's default: always in 9C, never in 9E, otherwise once.
    public static let `default` = PINPolicy(0)
    /// Never.
    public static let never = PINPolicy(1)
    /// Once per session.
    public static let once = PINPolicy(2)
    /// Before every use.
    public static let always = PINPolicy(3)
    /// A fingerprint or the PIN once per session.
    public static let matchOnce = PINPolicy(4)
    /// A fingerprint or the PIN before every use.
    public static let matchAlways = PINPolicy(5)

    static let names = ["default", "never", "once", "always", "match-once", "match-always"]

    /// Parses a name; `nil` for any other string.
    public init?(_ text: String) {
        guard let code = Self.names.firstIndex(of: text.lowercased()) else { return nil }
        rawValue = UInt8(code)
    }

    /// The name, otherwise the code.
    public var description: String {
        Self.names.indices.contains(Int(rawValue)) ? Self.names[Int(rawValue)] : "policy \(rawValue)"
    }
}

/// When a key requires a touch (Yubico).
public struct TouchPolicy: OpenSet {
    /// The code.
    public let rawValue: UInt8
    /// Wraps a code.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// The default: never.
    public static let `default` = TouchPolicy(0)
    /// Never.
    public static let never = TouchPolicy(1)
    /// For every use.
    public static let always = TouchPolicy(2)
    /// For a use more than 15 seconds after the last touch.
    public static let cached = TouchPolicy(3)

    static let names = ["default", "never", "always", "cached"]

    /// Parses a name; `nil` for any other string.
    public init?(_ text: String) {
        guard let code = Self.names.firstIndex(of: text.lowercased()) else { return nil }
        rawValue = UInt8(code)
    }

    /// The name, otherwise the code.
    public var description: String {
        Self.names.indices.contains(Int(rawValue)) ? Self.names[Int(rawValue)] : "policy \(rawValue)"
    }
}

/// The PIN and touch policies of a key.
public struct KeyPolicies: Hashable, Sendable {
    /// When it requires the PIN.
    public var pin: PINPolicy
    /// When it requires a touch.
    public var touch: TouchPolicy

    /// Creates policies, by default the slot's.
    public init(pin: PINPolicy = .default, touch: TouchPolicy = .default) {
        self.pin = pin
        self.touch = touch
    }
}

extension KeyPolicies: CustomStringConvertible {
    /// Both policies in words.
    public var description: String { "PIN \(pin), touch \(touch)" }
}
