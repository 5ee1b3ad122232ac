// SPDX-License-Identifier: Apache-2.0

import YKWire

/// An object identifier (X.660), such as `2.5.4.3`.
public struct OID: Hashable, Sendable, CustomStringConvertible, ExpressibleByStringLiteral {
    /// The content of its encoding (X.690 §8.19).
    let content: [UInt8]

    /// The limits for the content and for its first number, in bytes.
    private static let (limit, firstLimit) = (64, 9)

    /// Reads the content of an object identifier; `nil` if it is empty, truncated, longer than 64 bytes, or has a number
    /// that is not in its shortest form.
    init?(content: [UInt8]) {
        guard let last = content.last, last < 0x80, content.count <= Self.limit else { return nil }
        let numbers = Self.numbers(content)
        guard !numbers.contains(where: { $0.first == 0x80 }), numbers[0].count <= Self.firstLimit else { return nil }
        self.content = content
    }

    /// Parses the dotted form: 2 to 32 numbers below 2³²; `nil` for anything else.
    public init?(_ text: some StringProtocol) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        let numbers = parts.compactMap { part in
            part.utf8.allSatisfy { (0x30...0x39).contains($0) } ? UInt32(part).map(UInt64.init) : nil
        }
        guard numbers.count == parts.count, (2...32).contains(numbers.count), numbers[0] <= 2 else { return nil }
        guard numbers[0] == 2 || numbers[1] < 40 else { return nil }
        self.init(content: ([numbers[0] * 40 + numbers[1]] + numbers.dropFirst(2)).flatMap(Self.groups))
    }

    /// Parses the dotted form. A literal that is not one gives an empty identifier, which no certificate contains.
    public init(stringLiteral text: String) { content = OID(text)?.content ?? [] }

    /// The identifier, DER.
    package var encoded: [UInt8] { TLV(0x06, content).encoded }

    /// The dotted form.
    public var description: String {
        let numbers = Self.numbers(content)
        guard let start = numbers.first else { return "" }
        let first = start.reduce(UInt64(0)) { $0 << 7 | UInt64($1 & 0x7F) }
        let arc = min(2, first / 40)
        return (["\(arc)", "\(first - arc * 40)"] + numbers.dropFirst().map(Self.decimal)).listed(by: ".")
    }

    /// The groups of seven bits of each number.
    private static func numbers(_ content: [UInt8]) -> [ArraySlice<UInt8>] {
        let ends = content.indices.filter { content[$0] < 0x80 }.map { $0 + 1 }
        return zip([0] + ends, ends).map { content[$0..<$1] }
    }

    /// A number in decimal; identifiers made from UUIDs have numbers of 128 bits.
    private static func decimal(_ groups: ArraySlice<UInt8>) -> String {
        var digits: [Int] = [0]  // The last digit first.
        for group in groups {
            var carry = Int(group & 0x7F)
            for index in digits.indices {
                carry += digits[index] << 7
                digits[index] = carry % 10
                carry /= 10
            }
            while carry > 0 {
                digits.append(carry % 10)
                carry /= 10
            }
        }
        return digits.reversed().map(String.init).joined()
    }

    /// Groups of seven bits, all but the last marked.
    private static func groups(_ number: UInt64) -> [UInt8] {
        var groups = [UInt8(truncatingIfNeeded: number & 0x7F)]
        var rest = number >> 7
        while rest > 0 {
            groups.append(UInt8(truncatingIfNeeded: rest & 0x7F) | 0x80)
            rest >>= 7
        }
        return groups.reversed()
    }
}
