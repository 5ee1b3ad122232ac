// SPDX-License-Identifier: Apache-2.0

public import YKCrypto
public import YKFIDO

/// Where the PIN of an operation comes from.
public struct ArculusPIN: Sendable {
    /// The fewest characters of a PIN of an Arculus card; CTAP alone would take four (Arculus SDK).
    public static let shortest = 6

    let give: @Sendable (PINRequest) throws(ArculusError) -> SharedSecret?

    /// A PIN that is known. Throws `unsuitablePIN` when an Arculus card cannot have it: no try is spent on it.
    public init(_ pin: SharedSecret) throws(ArculusError) {
        try Self.checkLength(pin)
        give = { _ throws(ArculusError) in pin }
    }

    /// A PIN that is asked for when the card needs it, with the tries that are left; `nil` gives up.
    public init(asking: @escaping @Sendable (PINRequest) -> SharedSecret?) {
        give = { request throws(ArculusError) in
            guard let pin = asking(request) else { return nil }
            try Self.checkLength(pin)
            return pin
        }
    }

    /// Refuses a PIN that is shorter than an Arculus card's.
    static func checkLength(_ pin: SharedSecret) throws(ArculusError) {
        let count = PINText(pin.value).codePoints
        guard count >= shortest else { throw .unsuitablePIN(.tooShort(count)) }
    }

    /// Refuses what cannot be a new PIN: six digits or more.
    public static func checkNew(_ pin: SharedSecret) throws(ArculusError) {
        try checkLength(pin)
        let isDigits = pin.value.withBytes { $0.allSatisfy { (0x30...0x39).contains($0) } }
        guard isDigits else { throw .unsuitablePIN(.notDigits) }
    }
}
