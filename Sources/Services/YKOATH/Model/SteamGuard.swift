// SPDX-License-Identifier: Apache-2.0

/// Steam Guard's code format: five characters, base 26 with its own alphabet, least significant first.
public enum SteamGuard {
    private static let alphabet = Array("23456789BCDFGHJKMNPQRTVWXY")

    /// Formats the 31 bits of dynamic truncation (RFC 4226 §5.3) as a Steam Guard code.
    public static func code(_ number: UInt32) -> String {
        var rest = Int(number & 0x7FFF_FFFF)
        var text = ""
        for _ in 0..<5 {
            text.append(alphabet[rest % alphabet.count])
            rest /= alphabet.count
        }
        return text
    }
}
