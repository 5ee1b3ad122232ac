// SPDX-License-Identifier: Apache-2.0

import YKWire

extension X509Certificate {
    /// Whether a certificate can issue others (RFC 5280 §4.2.1.9).
    public struct BasicConstraints: Hashable, Sendable {
        /// Whether it is a certificate authority.
        public let isAuthority: Bool
        /// Maximum number of further authorities below it in the path; `nil` for any number.
        public let pathLength: Int?
    }

    /// The permitted uses of a key (RFC 5280 §4.2.1.3); the first bit of the extension is the most significant one.
    public struct KeyUsage: OptionSet, Hashable, Sendable {
        /// The first 16 bits of the extension.
        public let rawValue: UInt16

        /// Wraps the first 16 bits of the extension.
        public init(rawValue: UInt16) { self.rawValue = rawValue }

        /// Signatures other than those on certificates.
        public static let digitalSignature = KeyUsage(rawValue: 0x8000)
        /// Encryption of keys.
        public static let keyEncipherment = KeyUsage(rawValue: 0x2000)
        /// Key agreement.
        public static let keyAgreement = KeyUsage(rawValue: 0x0800)
        /// Signatures on certificates.
        public static let certificateSigning = KeyUsage(rawValue: 0x0400)
    }

    /// The basic constraints; `nil` if it has none.
    public var basicConstraints: BasicConstraints? {
        get throws(WireError) {
            try decoded("2.5.29.19") { reader throws(WireError) in
                var content = try reader.der(0x30, "the basic constraints")
                let isAuthority = content.peek == 0x01 ? try content.derBoolean("the authority flag") : false
                let pathLength = content.isAtEnd ? nil : try content.derNumber("the path length")
                try content.finish("the basic constraints")
                return BasicConstraints(isAuthority: isAuthority, pathLength: pathLength)
            }
        }
    }

    /// The permitted uses of its key; `nil` if it does not specify any.
    public var keyUsage: KeyUsage? {
        get throws(WireError) {
            try decoded("2.5.29.15") { reader throws(WireError) in
                let bits = try reader.derBits("the key usage") + [0, 0]
                return KeyUsage(rawValue: UInt16(bits[0]) << 8 | UInt16(bits[1]))
            }
        }
    }

    /// The purposes of its key (RFC 5280 §4.2.1.12); `nil` if it does not specify any.
    public var extendedKeyUsage: [OID]? {
        get throws(WireError) {
            try decoded("2.5.29.37") { reader throws(WireError) in
                var content = try reader.der(0x30, "the extended key usage")
                var purposes: [OID] = []
                while !content.isAtEnd { purposes.append(try content.derOID("a purpose")) }
                return purposes
            }
        }
    }

    /// Alternative names of the subject (RFC 5280 §4.2.1.6); `nil` if it has none.
    public var alternativeNames: [AlternativeName]? {
        get throws(WireError) {
            try decoded("2.5.29.17") { reader throws(WireError) in
                var content = try reader.der(0x30, "the alternative names")
                return try content.derObjects().map { AlternativeName($0) }
            }
        }
    }

    /// The identifier of its key (RFC 5280 §4.2.1.2); `nil` if it has none.
    public var subjectKeyIdentifier: [UInt8]? {
        get throws(WireError) {
            try decoded("2.5.29.14") { reader throws(WireError) in try reader.derOctets("the key identifier") }
        }
    }

    /// The identifier of its issuer's key (RFC 5280 §4.2.1.1); `nil` if it has none.
    public var authorityKeyIdentifier: [UInt8]? {
        get throws(WireError) {
            try decoded("2.5.29.35") { reader throws(WireError) in
                var content = try reader.der(0x30, "the authority key identifier")
                return try content.derObjects().value(0x80)
            } ?? nil
        }
    }

    /// Decodes the whole value of an extension; returns `nil` if it is absent.
    private func decoded<Value>(
        _ type: OID, _ read: (inout ByteReader) throws(WireError) -> Value
    ) throws(WireError) -> Value? {
        guard let entry = extensions[type] else { return nil }
        var reader = ByteReader(entry.value)
        let value = try read(&reader)
        try reader.finish("the extension \(type)")
        return value
    }
}
