// SPDX-License-Identifier: Apache-2.0

import YKWire

/// Object identifiers as dotted numbers (X.690 §8.19).
enum ObjectIdentifier {
    /// The dotted form; an identifier with numbers beyond 56 bits is truncated there.
    static func text(_ bytes: [UInt8]) -> String {
        var numbers: [UInt64] = []
        var number: UInt64 = 0
        for byte in bytes {
            guard number < 1 << 56 else { break }
            number = number << 7 | UInt64(byte & 0x7F)
            guard byte & 0x80 == 0 else { continue }
            if numbers.isEmpty {
                let first = min(2, number / 40)
                numbers = [first, number - first * 40]
            } else {
                numbers.append(number)
            }
            number = 0
        }
        return numbers.map(String.init).joined(separator: ".")
    }

    /// The bytes of dotted numbers that `NameParser` has checked.
    static func bytes(_ text: String) -> [UInt8] {
        let numbers = text.split(separator: ".").compactMap { UInt64($0) }
        guard let first = numbers.first else { return [] }
        let second = numbers.dropFirst().first ?? 0
        return ([first &* 40 &+ second] + numbers.dropFirst(2)).flatMap(groups)
    }

    /// Groups of seven bits, all but the last marked.
    private static func groups(_ number: UInt64) -> [UInt8] {
        var digits = [UInt8(truncatingIfNeeded: number & 0x7F)]
        var rest = number >> 7
        while rest > 0 {
            digits.append(UInt8(truncatingIfNeeded: rest & 0x7F) | 0x80)
            rest >>= 7
        }
        return digits.reversed()
    }
}
