// SPDX-License-Identifier: Apache-2.0

import YKWire

/// Writes the SSH data types (RFC 4251 §5).
struct SSHWriter {
    private(set) var bytes: [UInt8] = []

    /// Returns the strings of a message, concatenated.
    static func strings(_ parts: [UInt8]...) -> [UInt8] {
        var writer = SSHWriter()
        for part in parts { writer.string(part) }
        return writer.bytes
    }

    mutating func byte(_ value: UInt8) { bytes.append(value) }

    mutating func uint32(_ value: UInt32) {
        for shift in [24, 16, 8, 0] as [UInt32] { bytes.append(UInt8(truncatingIfNeeded: value >> shift)) }
    }

    mutating func string(_ value: some Collection<UInt8>) {
        uint32(UInt32(truncatingIfNeeded: value.count))
        bytes.append(contentsOf: value)
    }

    mutating func string(_ text: String) { string(text.utf8) }

    mutating func append(_ more: some Sequence<UInt8>) { bytes.append(contentsOf: more) }

    /// Writes a non-negative number, most significant byte first.
    mutating func number(_ digits: [UInt8]) { string(Self.number(digits)) }

    /// Returns the bytes of a non-negative number: without leading zeros, except one that keeps the sign bit clear.
    static func number(_ digits: [UInt8]) -> [UInt8] {
        let digits = Array(digits.drop { $0 == 0 })
        return digits.first.map { $0 & 0x80 != 0 } ?? false ? [0] + digits : digits
    }
}

/// Reads the SSH data types from a message; errors name the field.
struct SSHReader {
    private var reader: ByteReader

    init(_ bytes: [UInt8]) { reader = ByteReader(bytes) }

    var isAtEnd: Bool { reader.isAtEnd }

    /// The number of bytes that were not read.
    var remaining: Int { reader.remaining }

    mutating func byte(_ what: String) throws(SSHError) -> UInt8 {
        try take { reader throws(WireError) in try reader.byte(what) }
    }

    mutating func bool(_ what: String) throws(SSHError) -> Bool { try byte(what) != 0 }

    mutating func uint32(_ what: String) throws(SSHError) -> UInt32 {
        try take { reader throws(WireError) in try reader.uint32(what) }
    }

    mutating func uint64(_ what: String) throws(SSHError) -> UInt64 {
        let high = try uint32(what)
        return UInt64(high) << 32 | UInt64(try uint32(what))
    }

    /// Reads a string of UTF-8 text without a zero byte, except for one at its end.
    mutating func cString(_ what: String) throws(SSHError) -> String {
        var bytes = try string(what)
        if bytes.last == 0 { bytes.removeLast() }
        guard !bytes.contains(0), let text = String(validating: bytes, as: UTF8.self) else {
            throw .malformed("\(what) is not text")
        }
        return text
    }

    /// Reads a string: a length of four bytes and the bytes.
    mutating func string(_ what: String) throws(SSHError) -> [UInt8] {
        let count = try uint32("the length of \(what)")
        guard count <= UInt32(clamping: reader.remaining) else {
            throw .malformed("\(what) has \(count) bytes, but only \(reader.remaining) are left")
        }
        return try take { reader throws(WireError) in try reader.bytes(Int(count), what) }
    }

    /// Reads a comment, which is bytes in any encoding (RFC 4251 §5); U+FFFD replaces what is not UTF-8.
    mutating func comment() throws(SSHError) -> String {
        String(decoding: try string("the comment"), as: UTF8.self)
    }

    /// Reads a string of UTF-8 text.
    mutating func text(_ what: String) throws(SSHError) -> String {
        guard let text = String(validating: try string(what), as: UTF8.self) else {
            throw .malformed("\(what) is not UTF-8")
        }
        return text
    }

    /// Reads a non-negative number, most significant byte first, without leading zeros.
    mutating func number(_ what: String) throws(SSHError) -> [UInt8] {
        let digits = try string(what)
        if let first = digits.first, first & 0x80 != 0 { throw .malformed("\(what) is negative") }
        return Array(digits.drop { $0 == 0 })
    }

    /// Returns the remaining bytes.
    mutating func rest() -> [UInt8] { reader.rest() }

    /// Throws if any bytes remain.
    func finish(_ what: String) throws(SSHError) {
        guard reader.isAtEnd else { throw .malformed("\(reader.remaining) bytes follow \(what)") }
    }

    private mutating func take<Value>(
        _ body: (inout ByteReader) throws(WireError) -> Value
    ) throws(SSHError) -> Value {
        do { return try body(&reader) } catch { throw .malformed("\(error)") }
    }
}

/// The line of a `.pub` file.
enum SSHKeyLine {
    /// Reads what a file's lines have in common: each has a type, base64 data and a comment, separated by spaces or tabs. Blank
    /// lines and comments are skipped (sshkey_try_load_public of OpenSSH, which reads no more than the first other line).
    ///
    /// - Parameter read: Reads a line of at least two words: the type, the base64 data, and perhaps a comment.
    /// - Returns: What the first line has, and its comment.
    /// - Throws: ``SSHError``, `severalKeys` if another line has something else.
    static func read<Item: Equatable>(
        _ text: String, what: String, _ read: ([Substring]) throws(SSHError) -> Item
    ) throws(SSHError) -> (Item, comment: String) {
        let isBlank = { (character: Character) in character == " " || character == "\t" }
        let lines = text.split { ["\n", "\r\n", "\r"].contains($0) }.map { $0.drop(while: isBlank) }
            .filter { !$0.isEmpty && $0.first != "#" }
            .map { $0.split(maxSplits: 2, omittingEmptySubsequences: true, whereSeparator: isBlank) }
        guard let first = lines.first, first.count >= 2 else {
            throw .malformed("\(what) is a line with a type and base64 data")
        }
        let item = try read(first)
        for line in lines.dropFirst() where line.count >= 2 {
            if let other = try? read(line), other != item { throw .severalKeys }
        }
        return (item, first.count > 2 ? String(first[2]) : "")
    }
}

/// PEM as written by OpenSSH, in lines of 70 characters.
enum SSHArmor {
    static func encode(_ label: String, _ bytes: [UInt8]) -> String { PEM.encode(label, bytes, width: 70) }

    static func decode(_ label: String, _ text: [UInt8]) throws(SSHError) -> [UInt8] {
        guard text.count <= 1 << 20 else { throw .malformed("more than a megabyte") }
        if let bytes = PEM.contents(label, in: text).first { return bytes }
        let text = String(decoding: text, as: UTF8.self)
        guard text.contains(bytesOf: "-----BEGIN \(label)-----") else {
            throw .malformed("this is not a file of OpenSSH with a line '-----BEGIN \(label)-----'")
        }
        guard text.contains(bytesOf: "-----END \(label)-----") else {
            throw .malformed("no line '-----END \(label)-----'")
        }
        throw .malformed("the text between the lines is not base64")
    }
}

/// An error in reading, creating or verifying SSH data.
public enum SSHError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The data is malformed, as described.
    case malformed(String)
    /// There are several public keys or certificates where one is expected.
    case severalKeys
    /// This key type is not supported.
    case unsupportedKey(String)
    /// The private key file is encrypted with a passphrase, using this cipher.
    case encrypted(String)
    /// The passphrase of the private key file is wrong.
    case wrongPassphrase
    /// The private key file contains an ordinary key of this type, not one in a security key.
    case notInSecurityKey(String)
    /// The signature does not match its key or message, as described.
    case wrongSignature(String)

    /// A description of the error.
    public var description: String {
        switch self {
        case .malformed(let words): words
        case .severalKeys: "there are several keys, of which one is meant"
        case .unsupportedKey(let type): "a key of type '\(type)' is not supported"
        case .encrypted(let cipher): "the private key file is encrypted (\(cipher))"
        case .wrongPassphrase: "the passphrase of the private key file is wrong"
        case .notInSecurityKey(let type): "a private key of type '\(type)' is not in a security key"
        case .wrongSignature(let words): words
        }
    }
}
