// SPDX-License-Identifier: Apache-2.0

import YKWire

/// A subject alternative name (RFC 5280 §4.2.1.6).
public struct AlternativeName: Hashable, Sendable {
    /// The name as in the extension: its kind as a tag, and its value.
    let object: TLV

    /// Parses `dns:example.com`, `email:a@example.com`, `uri:https://example.com`, `ip:192.0.2.1` or `ip:2001:db8::1`,
    /// `upn:alice@example.com`, a user principal name as used for Windows log-on, `dirname:CN=Alice,O=Example` (RFC
    /// 4514), `rid:1.2.3.4`, and `othername:1.2.3.4;UTF8:text`. The names of kinds are those of OpenSSL, and may be in
    /// upper case.
    ///
    /// - Throws: `X509NameError`.
    public init(_ text: String) throws(X509NameError) {
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 2, !parts[1].isEmpty else {
            throw X509NameError("\(text) is not an alternative name, as in dns:example.com")
        }
        guard let kind = Kind(rawValue: parts[0].lowercased()) else {
            throw X509NameError("unknown kind of name \(parts[0]); known are \(Kind.words)")
        }
        guard let object = try Self.object(kind, parts[1]) else {
            throw X509NameError("\(parts[1]) is not \(kind.meaning)")
        }
        self.object = object
    }

    init(_ object: TLV) { self.object = object }

    /// The name as ``init(_:)`` parses it; `nil` for other kinds of names, and for one that is malformed. Bytes that are not
    /// ASCII, which such a name must not have, are written as `\xFC`.
    public var text: String? {
        guard let kind = Kind.allCases.first(where: { $0.tag == object.tag }) else { return nil }
        switch kind {
        case .ip: return "\(kind):\(InternetAddress.text(object.value))"
        case .rid: return OID(content: object.value).map { "\(kind):\($0)" }
        case .dirname: return directoryName.map { "\(kind):\($0)" }
        case .upn, .othername:
            guard let (type, value) = otherName else { return nil }
            return type == Self.principalName ? "upn:\(value)" : "othername:\(type);UTF8:\(value)"
        case .email, .dns, .uri:
            let name = object.value.flatMap { $0 < 0x80 ? [$0] : Array("\\x\(Hex.encode([$0]).uppercased())".utf8) }
            return "\(kind):\(String(decoding: name, as: UTF8.self))"
        }
    }

    /// The domain name; `nil` for other kinds of names.
    package var domainName: String? {
        object.tag == 0x82 ? String(decoding: object.value, as: UTF8.self) : nil
    }

    /// The directory name; `nil` for other kinds of names, and for one that is malformed.
    package var directoryName: DistinguishedName? {
        object.tag == 0xA4 ? try? DistinguishedName(der: object.value) : nil
    }

    /// The value of the extension, DER.
    package static func encoded(_ names: [AlternativeName]) -> [UInt8] {
        TLV(0x30, names.map(\.object).encoded).encoded
    }

    /// szOID_NT_PRINCIPAL_NAME (Microsoft).
    private static let principalName: OID = "1.3.6.1.4.1.311.20.2.3"

    private enum Kind: String, CaseIterable, CustomStringConvertible {
        case dns, email, uri, ip, upn, dirname, rid, othername

        static let words = allCases.map(\.rawValue).listed()

        var description: String { rawValue }

        var tag: TLV.Tag {
            switch self {
            case .upn, .othername: 0xA0
            case .email: 0x81
            case .dns: 0x82
            case .dirname: 0xA4
            case .uri: 0x86
            case .ip: 0x87
            case .rid: 0x88
            }
        }

        /// The required form of a value.
        var meaning: String {
            switch self {
            case .dns, .email, .uri: "ASCII without spaces"
            case .ip: "an address"
            case .upn: "a user principal name, as in alice@example.com"
            case .dirname: "a distinguished name, as in CN=Alice,O=Example"
            case .rid: "an object identifier, as in 1.2.3.4"
            case .othername: "an object identifier and a text, as in 1.2.3.4;UTF8:text"
            }
        }
    }

    /// The name of a kind; `nil` for a value that it cannot have.
    private static func object(_ kind: Kind, _ value: String) throws(X509NameError) -> TLV? {
        switch kind {
        case .dns, .email, .uri:
            return value.utf8.allSatisfy { (0x21...0x7E).contains($0) } ? TLV(kind.tag, Array(value.utf8)) : nil
        case .ip: return InternetAddress.bytes(value).map { TLV(kind.tag, $0) }
        case .rid: return OID(value).map { TLV(kind.tag, $0.content) }
        case .dirname: return TLV(kind.tag, try DistinguishedName(value).encoded)
        case .upn: return isPlain(value) ? other(principalName, value) : nil
        case .othername:
            let parts = value.split(separator: ";", maxSplits: 1).map(String.init)
            guard parts.count == 2, let type = OID(parts[0]), parts[1].uppercased().hasPrefix("UTF8:") else {
                return nil
            }
            let text = String(parts[1].dropFirst(5))
            return isPlain(text) ? other(type, text) : nil
        }
    }

    /// An otherName: its type, and a UTF8String under the tag 0.
    private static func other(_ type: OID, _ text: String) -> TLV {
        TLV(0xA0, type.encoded + TLV(0xA0, TLV(0x0C, Array(text.utf8)).encoded).encoded)
    }

    /// The type and the text of an otherName whose value is a UTF8String.
    private var otherName: (OID, String)? {
        var reader = ByteReader(object.value)
        guard let type = try? reader.derOID("the type"), var value = try? reader.der(0xA0, "the value"), reader.isAtEnd,
            let text = try? value.der(), value.isAtEnd, text.tag == 0x0C
        else { return nil }
        return String(validating: text.value, as: UTF8.self).map { (type, $0) }
    }

    /// Programs that end a string at a control character would see a different name from the signed one.
    private static func isPlain(_ text: String) -> Bool {
        !text.isEmpty && text.unicodeScalars.allSatisfy { $0.value >= 0x20 && !(0x7F...0x9F).contains($0.value) }
    }
}

/// IP addresses as text and as the 4 or 16 bytes of certificates.
enum InternetAddress {
    /// Parses a dotted IPv4 address or RFC 4291 §2.2 text; `nil` for anything else.
    static func bytes(_ text: String) -> [UInt8]? { text.contains(bytesOf: ":") ? six(text) : four(text) }

    /// Dotted numbers, or eight groups of hexadecimal digits.
    static func text(_ bytes: [UInt8]) -> String {
        switch bytes.count {
        case 4: return bytes.map { String($0) }.listed(by: ".")
        case 16:
            return stride(from: 0, to: 16, by: 2)
                .map { String(UInt16(bytes[$0]) << 8 | UInt16(bytes[$0 + 1]), radix: 16) }.listed(by: ":")
        default: return Hex.encode(bytes)
        }
    }

    private static func four(_ text: String) -> [UInt8]? {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        let numbers = parts.compactMap { $0.utf8.allSatisfy { (0x30...0x39).contains($0) } ? UInt8($0) : nil }
        return parts.count == 4 && numbers.count == 4 ? numbers : nil
    }

    private static func six(_ text: String) -> [UInt8]? {
        guard let text = withoutDots(text) else { return nil }
        let halves = halves(text)
        guard let first = groups(halves.0) else { return nil }
        guard let second = halves.1 else { return first.count == 16 ? first : nil }
        guard let last = groups(second), first.count + last.count <= 14 else { return nil }
        return first + [UInt8](repeating: 0, count: 16 - first.count - last.count) + last
    }

    /// Writes an IPv4 address at the end as two groups (RFC 4291 §2.2, the third form); `nil` if it is malformed.
    private static func withoutDots(_ text: String) -> String? {
        guard text.contains(bytesOf: "."), let colon = text.lastIndex(of: ":") else { return text }
        guard let end = four(String(text[text.index(after: colon)...])) else { return nil }
        return String(text[...colon]) + Hex.encode(Array(end[..<2])) + ":" + Hex.encode(Array(end[2...]))
    }

    /// The parts before and after the two colons that stand for zeros.
    private static func halves(_ text: String) -> (String, String?) {
        let characters = Array(text)
        for index in characters.indices.dropLast() where characters[index] == ":" && characters[index + 1] == ":" {
            return (String(characters[..<index]), String(characters[(index + 2)...]))
        }
        return (text, nil)
    }

    private static func groups(_ text: String) -> [UInt8]? {
        if text.isEmpty { return [] }
        var bytes: [UInt8] = []
        for group in text.split(separator: ":", omittingEmptySubsequences: false) {
            guard (1...4).contains(group.count), let number = UInt16(group, radix: 16), group.first != "+" else {
                return nil
            }
            bytes += [UInt8(number >> 8), UInt8(number & 0xFF)]
        }
        return bytes
    }
}
