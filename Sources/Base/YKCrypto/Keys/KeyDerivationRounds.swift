// SPDX-License-Identifier: Apache-2.0

/// Finds the number of rounds of password-based key derivation in DER before anything is derived: in PBES1, PBKDF2 and
/// PKCS#12 the rounds follow the salt (RFC 8018 §A, RFC 7292 §4).
public enum KeyDerivationRounds {
    /// The highest number of rounds that follows any salt; zero when no salt is found.
    public static func most(in bytes: [UInt8]) -> UInt64 { most(in: bytes[...], depth: 0) }

    private static func most(in bytes: ArraySlice<UInt8>, depth: Int) -> UInt64 {
        guard depth < 24 else { return 0 }
        var rest = bytes
        var found: UInt64 = 0
        var isAfterSalt = false
        while let (tag, content) = object(&rest) {
            if tag == 0x02, isAfterSalt { found = max(found, number(content)) }
            isAfterSalt = tag == 0x04
            if tag & 0x20 != 0 || tag == 0x04 { found = max(found, most(in: content, depth: depth + 1)) }
        }
        return found
    }

    private static func number(_ bytes: ArraySlice<UInt8>) -> UInt64 {
        let digits = bytes.drop { $0 == 0 }
        guard digits.count <= 7 else { return .max }
        return digits.reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// Takes one object of definite or indefinite length off the front; `nil` when there is none.
    private static func object(_ rest: inout ArraySlice<UInt8>) -> (UInt8, ArraySlice<UInt8>)? {
        guard let tag = rest.popFirst(), let first = rest.popFirst() else { return nil }
        if first == 0x80 {  // Its objects come next, as if they stood here.
            return (tag, [])
        }
        var length = Int(first)
        if first > 0x80 {
            guard first <= 0x84, rest.count >= Int(first & 0x7F) else { return nil }
            length = rest.prefix(Int(first & 0x7F)).reduce(0) { $0 << 8 | Int($1) }
            rest = rest.dropFirst(Int(first & 0x7F))
        }
        guard length <= rest.count else { return nil }
        defer { rest = rest.dropFirst(length) }
        return (tag, rest.prefix(length))
    }
}
