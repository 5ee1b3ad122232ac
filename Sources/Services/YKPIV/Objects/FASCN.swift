// SPDX-License-Identifier: Apache-2.0

public import YKWire

/// The Federal Agency Smart Credential Number: 32 digits (TIG SCEPACS 2.2 §2), five bits each with odd parity, 25 bytes
/// in all.
public struct FASCN: Hashable, Sendable, CustomStringConvertible {
    /// Agency (4 digits), system (4), credential (6), series (1), issue (1), person (10), category of the organization
    /// (1), organization (4), association with it (1).
    public let fields: [Int]

    /// The number of digits of each field.
    public static let lengths = [4, 4, 6, 1, 1, 10, 1, 4, 1]

    /// The number of non-federal issuers: 9999-9999-999999.
    public static let nonFederal = FASCN(known: [9999, 9999, 999_999, 0, 1, 0, 3, 0, 1])

    private init(known fields: [Int]) { self.fields = fields }

    private static let start = 0b1011
    private static let separator = 0b1101
    private static let end = 0b1111

    /// Creates a number; `nil` unless there are nine fields, none with too many digits.
    public init?(fields: [Int]) {
        guard fields.count == Self.lengths.count else { return nil }
        let fit = zip(fields, Self.lengths).allSatisfy { $0 >= 0 && String($0).count <= $1 }
        guard fit else { return nil }
        self.fields = fields
    }

    /// Reads the 25 bytes; throws for wrong parity, separators or check character.
    public init(decoding bytes: [UInt8]) throws(WireError) {
        guard bytes.count == 25 else { throw WireError(.malformed, at: 0, "a FASC-N of \(bytes.count) bytes") }
        let bits = bytes.flatMap { byte in (0..<8).map { Int(byte >> (7 - $0)) & 1 } }
        var symbols: [Int] = []
        for start in stride(from: 0, to: 200, by: 5) {
            let symbol = bits[start..<(start + 5)]
            guard symbol.reduce(0, +) % 2 == 1 else {
                throw WireError(.malformed, at: start / 8, "wrong parity in the FASC-N")
            }
            symbols.append(symbol.prefix(4).enumerated().reduce(0) { $0 | $1.element << $1.offset })
        }
        var fields: [Int] = []
        var place = 1
        for (index, length) in Self.lengths.enumerated() {
            let digits = symbols[place..<(place + length)]
            guard digits.allSatisfy({ $0 < 10 }) else { throw WireError(.malformed, at: 0, "no digits in the FASC-N") }
            fields.append(digits.reduce(0) { $0 * 10 + $1 })
            place += length + (index < 5 ? 1 : 0)
        }
        self.fields = fields
        guard encoded == bytes else {
            throw WireError(.malformed, at: 0, "wrong separators or check character in the FASC-N")
        }
    }

    /// The 25 bytes.
    public var encoded: [UInt8] {
        var symbols = [Self.start]
        for (index, (field, length)) in zip(fields, Self.lengths).enumerated() {
            let digits = String(field).utf8.map { Int($0) - 48 }
            symbols += [Int](repeating: 0, count: length - digits.count) + digits
            if index < 5 { symbols.append(Self.separator) }
        }
        symbols.append(Self.end)
        let bits = symbols.flatMap(Self.bits)
        let check = (0..<5).map { place in stride(from: place, to: bits.count, by: 5).reduce(0) { $0 ^ bits[$1] } }
        let all = bits + check
        return stride(from: 0, to: 200, by: 8).map { all[$0..<($0 + 8)].reduce(UInt8(0)) { $0 << 1 | UInt8($1) } }
    }

    /// Four bits, the lowest first, and an odd parity bit.
    private static func bits(_ symbol: Int) -> [Int] {
        let bits = (0..<4).map { symbol >> $0 & 1 }
        return bits + [1 - bits.reduce(0, +) % 2]
    }

    /// The digits, field by field.
    public var description: String {
        zip(fields, Self.lengths).map { field, length in
            let digits = String(field)
            return String(repeating: "0", count: length - digits.count) + digits
        }.joined(separator: "-")
    }
}
