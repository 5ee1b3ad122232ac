// SPDX-License-Identifier: Apache-2.0

/// The ciphers of old key files that OpenSSL 3 does not decrypt without its legacy provider: DES, RC2, RC4 and similar.
public enum LegacyCipher {
    /// Finds the identifier of such a cipher or encryption scheme (RFC 8018 §A, RFC 7292 appendix C).
    ///
    /// - Parameter der: An encrypted PKCS#8 key or a PKCS#12 file.
    /// - Returns: The name of the first one; `nil` if there is none.
    public static func name(in der: [UInt8]) -> String? {
        identifiers.first { der.contains(sequence: DERWriter.object(0x06, $0.1)) }?.0
    }

    /// Returns the cipher of a traditional PEM block (RFC 1421 §4.6.1.3) if it is such a cipher.
    ///
    /// - Parameter block: The block with its header lines.
    public static func name(inHeadersOf block: [UInt8]) -> String? {
        for line in block.split(whereSeparator: { $0 == 0x0A || $0 == 0x0D }) {
            let text = String(decoding: line, as: UTF8.self)
            guard text.hasPrefix(header) else { continue }
            let name = text.dropFirst(header.count).drop { $0 == " " }.prefix { $0 != "," }
            return current.contains { name.hasPrefix($0) } ? nil : String(name)
        }
        return nil
    }

    private static let header = "DEK-Info:"
    /// The name prefixes of the ciphers in OpenSSL 3's default provider.
    private static let current = ["AES-", "DES-EDE3-", "CAMELLIA-", "ARIA-", "SM4-"]

    /// The most specific ones first: PBES2 contains the identifier of its cipher.
    private static let identifiers: [(String, [UInt8])] = [
        ("PBE-MD2-DES", pkcs5(1)), ("PBE-MD5-DES", pkcs5(3)), ("PBE-MD2-RC2-64", pkcs5(4)),
        ("PBE-MD5-RC2-64", pkcs5(6)), ("PBE-SHA1-DES", pkcs5(10)), ("PBE-SHA1-RC2-64", pkcs5(11)),
        ("PBE-SHA1-RC4-128", pkcs12(1)), ("PBE-SHA1-RC4-40", pkcs12(2)), ("PBE-SHA1-RC2-128", pkcs12(5)),
        ("PBE-SHA1-RC2-40", pkcs12(6)), ("DES-CBC", [0x2B, 0x0E, 0x03, 0x02, 0x07]), ("RC2-CBC", rsa([0x03, 0x02])),
        ("RC4", rsa([0x03, 0x04])), ("RC5-CBC", rsa([0x03, 0x09])),
    ]

    private static func rsa(_ last: [UInt8]) -> [UInt8] { [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D] + last }
    private static func pkcs5(_ last: UInt8) -> [UInt8] { rsa([0x01, 0x05, last]) }
    private static func pkcs12(_ last: UInt8) -> [UInt8] { rsa([0x01, 0x0C, 0x01, last]) }
}

extension [UInt8] {
    /// Whether the array contains these bytes consecutively.
    func contains(sequence: [UInt8]) -> Bool { occurrences(of: sequence) > 0 }

    /// The number of times that the array contains these bytes consecutively.
    func occurrences(of sequence: [UInt8]) -> Int {
        guard let first = sequence.first, count >= sequence.count else { return 0 }
        return (0...(count - sequence.count)).count {
            self[$0] == first && self[$0..<($0 + sequence.count)].elementsEqual(sequence)
        }
    }
}
