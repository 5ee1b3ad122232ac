// SPDX-License-Identifier: Apache-2.0

public import YKCrypto
public import YKHTTP
import YKTransport
import YKWire

/// The link that enrolls a push account, as privacyIDEA shows it in a QR code: `otpauth://pipush/LABEL?…` or
/// `pia://pipush/LABEL?…`.
public struct PushLink: Sendable {
    /// The URL to which the account's key is sent, and from which requests are fetched.
    public let url: HTTPURL
    /// The serial number of the server's token.
    public let serial: String
    /// The credential of this enrollment; it is accepted once.
    public let credential: SharedSecret
    /// The account name proposed by the server.
    public let label: String
    /// The operator of the server, as the server calls it.
    public let issuer: String
    /// Whether the server does not deliver requests, so that they must be fetched.
    public let isPollOnly: Bool
    /// Whether the link asks not to verify the server's certificate, which is ignored.
    public let asksForNoVerification: Bool
    /// The unlock method that the server requests before an approval: `pin`, `biometric` or `any`; empty for none.
    public let unlock: String

    /// Maximum length of a link, in bytes.
    public static let limit = 4096

    /// Whether a text is a link of this kind, well-formed or not.
    public static func matches(_ text: String) -> Bool {
        let start = text.lowercased()
        return ["otpauth://pipush/", "pia://pipush/"].contains { start.hasPrefix($0) }
    }

    /// Reads a link, ignoring unknown fields.
    ///
    /// - Throws: `malformed` with the reason, `unsupportedVersion` if the field `v` is not 1.
    public init(_ text: String) throws(ApprovalError) {
        guard text.utf8.count <= Self.limit else { throw .malformed("the link is longer than \(Self.limit) bytes") }
        guard Self.matches(text) else { throw .malformed("not a link that enrolls a push account") }
        let (path, fields) = try Self.parts(text)
        func needed(_ name: String) throws(ApprovalError) -> String {
            guard let value = fields[name], !value.isEmpty else { throw .malformed("the link has no '\(name)'") }
            return value
        }
        let version = try needed("v")
        guard version == "1" else { throw .unsupportedVersion(version) }
        do { url = try HTTPURL(try needed("url")) } catch let error as HTTPError {
            throw .malformed(error.description)
        } catch let error as ApprovalError { throw error } catch { throw .malformed("the link has no server") }
        serial = try needed("serial")
        guard Self.isSerial(serial) else { throw .malformed("the serial number has invalid characters") }
        let credential = try needed("enrollment_credential")
        guard credential.utf8.count <= 256 else { throw .malformed("the enrollment credential is too long") }
        self.credential = SharedSecret(Secret(utf8: credential))
        label = path
        issuer = fields["issuer"] ?? ""
        isPollOnly = Self.isTrue(fields["poll_only"])
        asksForNoVerification = fields["sslverify"].map { !Self.isTrue($0) } ?? false
        let asksPIN = Self.isTrue(fields["pin"])
        unlock = fields["app_force_unlock"] ?? (asksPIN ? "pin" : "")
    }

    /// Whether a text is a valid serial number: up to 64 letters, digits, hyphens and underscores, since bars separate
    /// serial numbers in signed texts.
    static func isSerial(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.count <= 64
            && text.utf8.allSatisfy { byte in
                switch byte {
                case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x5F: true
                default: false
                }
            }
    }

    /// privacyIDEA writes `True` and `1`.
    private static func isTrue(_ text: String?) -> Bool { ["1", "true"].contains(text?.lowercased()) }

    private static func parts(
        _ text: String
    ) throws(ApprovalError) -> (label: String, fields: [String: String]) {
        let bytes = Array(text.utf8)
        guard let start = bytes.firstIndex(of: UInt8(ascii: "?")) else { throw .malformed("the link has no fields") }
        func decoded(_ part: ArraySlice<UInt8>) throws(ApprovalError) -> String {
            guard let value = PercentEncoding.decode(String(decoding: part, as: UTF8.self)) else {
                throw .malformed("the link's percent-encoding is not UTF-8")
            }
            return value
        }
        let slashes = bytes[..<start].indices.filter { bytes[$0] == UInt8(ascii: "/") }
        let label = slashes.count > 2 ? try decoded(bytes[(slashes[2] + 1)..<start]) : ""
        var fields: [String: String] = [:]
        for field in bytes[(start + 1)...].split(separator: UInt8(ascii: "&")) {
            let equals = field.firstIndex(of: UInt8(ascii: "=")) ?? field.endIndex
            let name = try decoded(field[..<equals])
            guard fields[name] == nil else { throw .malformed("the link has a duplicate field") }
            fields[name] = try decoded(field[equals...].dropFirst())
        }
        return (label, fields)
    }
}
