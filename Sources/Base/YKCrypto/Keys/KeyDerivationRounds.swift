// SPDX-License-Identifier: Apache-2.0

/// Finds the number of rounds of password-based key derivation in DER before anything is derived: in PBES1, PBKDF2 and
/// PKCS#12 the rounds follow the salt (RFC 8018 §A, RFC 7292 §4), in scrypt three factors do (RFC 7914 §7.1).
///
/// OpenSSL reads BER, so the salt may be in pieces, or end with end-of-contents octets. The parameters of an elliptic curve
/// (RFC 3279 §2.3.5), where the order follows the generator, are skipped.
public enum KeyDerivationRounds {
    /// The total of the rounds after all salts; 0 when no salt is found. scrypt counts as the number of rounds that
    /// take equally long.
    public static func total(in bytes: [UInt8]) -> UInt64 { total(in: bytes[...], depth: 0, isScrypt: false) }

    /// id-scrypt, 1.3.6.1.4.1.11591.4.11.
    private static let scrypt: [UInt8] = [0x2B, 0x06, 0x01, 0x04, 0x01, 0xDA, 0x47, 0x04, 0x0B]

    /// id-ecPublicKey, 1.2.840.10045.2.1.
    private static let curveKey: [UInt8] = [0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01]

    private static func total(in bytes: ArraySlice<UInt8>, depth: Int, isScrypt: Bool) -> UInt64 {
        guard depth < 24 else { return 0 }
        var rest = bytes
        var total: UInt64 = 0
        var isScrypt = isScrypt
        // The numbers directly after a salt.
        var numbers: [UInt64] = []
        var isBehindSalt = false
        var isBehindCurveKey = false
        while let (tag, content) = object(&rest) {
            if tag == 0x02 {
                if isBehindSalt { numbers.append(number(content)) }
                continue
            }
            total = sum(total, rounds(numbers, isScrypt))
            numbers = []
            isBehindSalt = [0x00, 0x04, 0x24].contains(tag)
            if tag == 0x06 { isScrypt = content.elementsEqual(scrypt) }
            defer { isBehindCurveKey = tag == 0x06 && content.elementsEqual(curveKey) }
            if (tag & 0x20 != 0 || tag == 0x04) && !isBehindCurveKey {
                total = sum(total, Self.total(in: content, depth: depth + 1, isScrypt: isScrypt))
            }
        }
        return sum(total, rounds(numbers, isScrypt))
    }

    private static func sum(_ left: UInt64, _ right: UInt64) -> UInt64 {
        let (sum, isOver) = left.addingReportingOverflow(right)
        return isOver ? .max : sum
    }

    /// In PBKDF2 the key length follows the rounds. Two units of scrypt's N × r × p take as long as one round.
    private static func rounds(_ numbers: [UInt64], _ isScrypt: Bool) -> UInt64 {
        guard isScrypt else { return numbers.first ?? 0 }
        return numbers.prefix(3).reduce(1) { product, factor in
            let (next, isOver) = product.multipliedReportingOverflow(by: factor)
            return isOver ? .max : next
        } / 2
    }

    private static func number(_ bytes: ArraySlice<UInt8>) -> UInt64 {
        let digits = bytes.drop { $0 == 0 }
        guard digits.count <= 7 else { return .max }
        return digits.reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// Reads one object of definite or indefinite length; `nil` when there is none.
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
