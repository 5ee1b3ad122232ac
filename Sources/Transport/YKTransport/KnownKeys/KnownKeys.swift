// SPDX-License-Identifier: Apache-2.0

/// The names of known keys of all vendors.
public enum KnownKeys {
    /// The name of the key with these USB numbers; `nil` for an unknown key.
    public static func name(vendor: UInt16, product: UInt16) -> String? {
        row(Self.hex(vendor) + " " + Self.hex(product)) ?? row(Self.hex(vendor) + " *")
    }

    private static func row(_ start: String) -> String? {
        let lines = table.split(separator: "\n")
        return lines.first { $0.hasPrefix(start + " ") }.map { String($0.dropFirst(start.count + 1)) }
    }

    private static func hex(_ number: UInt16) -> String {
        let text = String(number, radix: 16)
        return String(repeating: "0", count: 4 - text.count) + text
    }
}
