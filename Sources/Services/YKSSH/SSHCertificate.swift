// SPDX-License-Identifier: Apache-2.0

import YKWire

/// An OpenSSH certificate (OpenSSH's PROTOCOL.certkeys): a public key, for whom and how long it is valid, and the
/// signature of an authority over that.
public struct SSHCertificate: Hashable, Sendable {
    /// The purpose of a certificate.
    public enum Kind: UInt32, Sendable {
        /// For logins and signatures of users.
        case user = 1
        /// For hosts.
        case host = 2
    }

    /// A critical option.
    struct Option: Hashable, Sendable {
        let name: String
        let data: [UInt8]
    }

    /// The certificate in wire format.
    public let blob: [UInt8]
    /// The certified key.
    public let publicKey: SSHPublicKey
    /// The serial number; 0 if the authority gives none.
    public let serial: UInt64
    /// The purpose.
    public let kind: Kind
    /// The name that the authority gave the certificate.
    public let keyID: String
    /// The users or hosts that it is for.
    public let principals: [String]
    /// The time from which it is valid, in seconds since 1970.
    public let validAfter: UInt64
    /// The time from which it is no longer valid, in seconds since 1970.
    public let validBefore: UInt64
    /// The authority's key.
    public let authority: SSHPublicKey
    private let criticalOptions: [Option]

    private static let suffix = "-cert-v01@openssh.com"
    private static let principalLimit = 256

    /// The name of the certificate type.
    public var type: String { Self.type(of: publicKey.type) }

    /// Returns the name of the certificate type for a key type.
    private static func type(of plain: String) -> String {
        (plain.hasSuffix("@openssh.com") ? String(plain.dropLast("@openssh.com".count)) : plain) + suffix
    }

    /// Returns the type of the keys that a certificate type certifies; `nil` for other types.
    private static func plain(_ type: String) -> String? { SSHPublicKey.types.first { Self.type(of: $0) == type } }

    /// Whether certificates of this type can be read.
    static func isKnown(type: String) -> Bool { plain(type) != nil }

    /// Reads a certificate, and verifies its signature. RSA authorities that sign with SHA-1 are not accepted.
    ///
    /// - Throws: ``SSHError/unsupportedKey(_:)`` for other types, ``SSHError/malformed(_:)``,
    ///   ``SSHError/wrongSignature(_:)``.
    public init(blob: [UInt8]) throws(SSHError) {
        var reader = SSHReader(blob)
        publicKey = try Self.subject(&reader)
        self.blob = blob
        serial = try reader.uint64("the serial number")
        let number = try reader.uint32("the purpose")
        guard let kind = Kind(rawValue: number) else {
            throw .malformed("a certificate of an unknown purpose, \(number)")
        }
        self.kind = kind
        keyID = try reader.cString("the name of the certificate")
        principals = try Self.principals(try reader.string("the principals"))
        validAfter = try reader.uint64("the start of the validity")
        validBefore = try reader.uint64("the end of the validity")
        criticalOptions = try Self.options(try reader.string("the critical options"))
        _ = try Self.options(try reader.string("the extensions"))
        _ = try reader.string("the reserved string")
        authority = try SSHPublicKey(blob: try reader.string("the authority's key"))
        let signed = Array(blob.dropLast(reader.remaining))
        let signature = try SSHSignature(wire: try reader.string("the authority's signature"))
        try reader.finish("the certificate")
        guard signature.format != "ssh-rsa" else {
            throw .wrongSignature("the authority signed the certificate with ssh-rsa, which uses SHA-1")
        }
        guard signature.isValid(for: signed, by: authority) else {
            throw .wrongSignature("the authority's signature of the certificate is wrong")
        }
    }

    /// Reads the type, the nonce and the certified key at the beginning of a certificate; verifies nothing.
    static func subject(_ reader: inout SSHReader) throws(SSHError) -> SSHPublicKey {
        let type = try reader.text("the type of the certificate")
        guard let plain = plain(type) else { throw .unsupportedKey(type) }
        _ = try reader.string("the nonce")
        return try SSHPublicKey.read(&reader, type: plain)
    }

    private static func principals(_ bytes: [UInt8]) throws(SSHError) -> [String] {
        var reader = SSHReader(bytes)
        var names: [String] = []
        while !reader.isAtEnd {
            guard names.count < principalLimit else { throw .malformed("more than \(principalLimit) principals") }
            names.append(try reader.cString("a principal"))
        }
        return names
    }

    private static func options(_ bytes: [UInt8]) throws(SSHError) -> [Option] {
        var reader = SSHReader(bytes)
        var options: [Option] = []
        while !reader.isAtEnd {
            options.append(
                Option(
                    name: try reader.text("the name of an option"), data: try reader.string("the value of an option")))
        }
        return options
    }

    /// Reads a `-cert.pub` file or a line of it: type, base64, comment. Empty lines and comments are skipped.
    ///
    /// - Returns: The certificate and its comment, which is empty if there is none.
    /// - Throws: ``SSHError``, `severalKeys` for lines with different certificates.
    public static func parse(line: String) throws(SSHError) -> (certificate: SSHCertificate, comment: String) {
        try SSHKeyLine.read(line, what: "a certificate") { words throws(SSHError) in
            guard !SSHPublicKey.isKnown(type: String(words[0])) else {
                throw .malformed("this is a public key, not a certificate")
            }
            guard let blob = try? Base64.decode(words[1]) else { throw .malformed("the certificate is not base64") }
            let certificate = try SSHCertificate(blob: blob)
            guard certificate.type == words[0] else {
                throw .malformed("'\(words[0])' before a certificate of type '\(certificate.type)'")
            }
            return certificate
        }
    }

    /// The critical options that restrict logins (PROTOCOL.certkeys); an unknown option forbids the use.
    private static let loginOptions: Set = ["force-command", "source-address"]

    /// Returns why a user's signature made with the certificate is not valid; `nil` if it is.
    ///
    /// - Parameters:
    ///   - principal: The name that the certificate must list.
    ///   - isVerified: Whether the key verified the user by PIN or fingerprint; `nil` for keys that do not report it.
    ///   - now: Seconds since 1970.
    func problem(principal: String, isVerified: Bool?, now: UInt64) -> String? {
        guard kind == .user else { return "the certificate is not a user certificate" }
        guard now >= validAfter else { return "the certificate is not valid yet" }
        guard now < validBefore else { return "the certificate has expired" }
        guard !principals.isEmpty else { return "the certificate names no users" }
        guard principals.contains(where: { $0.utf8.elementsEqual(principal.utf8) }) else {
            return "the certificate is for other names"
        }
        for option in criticalOptions where !Self.loginOptions.contains(option.name) {
            guard option.name == "verify-required" else {
                return "the certificate has the unknown critical option '\(option.name)'"
            }
            guard isVerified != false else { return "the certificate requires a PIN or fingerprint for each signature" }
        }
        return nil
    }
}
