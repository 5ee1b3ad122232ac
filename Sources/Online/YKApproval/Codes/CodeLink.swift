// SPDX-License-Identifier: Apache-2.0

public import YKCrypto
public import YKOATH
public import YKTransport
import YKWire

/// An `otpauth://totp` or `hotp` link of a server. The device may have to contribute to the secret (privacyIDEA's
/// two-step enrollment).
public struct CodeLink: Sendable {
    /// The account in the link. With ``twoStep``, its secret is only the server's part.
    public let account: NewOATHAccount
    /// The serial number of the token at the server, if the link contains it.
    public let serial: String?
    /// The device's contribution; `nil` if the link contains the whole secret.
    public let twoStep: TwoStep?

    /// Reads a link.
    ///
    /// - Throws: `link` with the invalid field, or `malformed` for invalid parameters of a two-step enrollment.
    public init(_ text: String) throws(ApprovalError) {
        do { account = try OtpauthURI.parse(twoStep: text) } catch { throw .link(error) }
        let link = try LinkQuery(text.filter { $0 != " " })
        serial = link["serial"].flatMap { PushLink.isSerial($0) ? $0 : nil }
        twoStep = try TwoStep(link)
    }
}

/// The second half of a two-step enrollment: the device generates its part, the user types it in at the server, and both
/// derive the secret.
public struct TwoStep: Hashable, Sendable {
    /// The number of bytes that the device generates.
    public let saltSize: Int
    /// The length of the secret in bytes.
    public let secretSize: Int
    /// The number of PBKDF2 iterations.
    public let rounds: Int

    /// Reads the parameters of a link; `nil` if it has none of them.
    init?(_ link: LinkQuery) throws(ApprovalError) {
        let names = ["2step_salt", "2step_output", "2step_difficulty"]
        guard names.contains(where: { link[$0] != nil }) else { return nil }
        func number(_ name: String, in range: ClosedRange<Int>) throws(ApprovalError) -> Int {
            guard let value = Int(try link.required(name)), range.contains(value) else {
                throw .malformed("the link's \(name) is not a number from \(range.lowerBound) to \(range.upperBound)")
            }
            return value
        }
        saltSize = try number(names[0], in: 1...64)
        secretSize = try number(names[1], in: 14...64)
        rounds = try number(names[2], in: 1...1_000_000)
    }

    /// Generates the device's part.
    public func part(_ random: any RandomSource) throws(ApprovalError) -> SharedSecret {
        do {
            var bytes = try random.draw(saltSize, secret: true)
            defer { Secret.wipe(&bytes) }
            return SharedSecret(Secret(bytes))
        } catch { throw .random }
    }

    /// Returns the device's part in the form that the user types in at the server: base 32 of a checksum, the first
    /// four bytes of the part's SHA-1, and the part (privacyIDEA, "base32check"). It is half of the secret.
    public static func shown(_ part: borrowing Secret) -> String {
        var bytes = part.copyBytes()
        defer { Secret.wipe(&bytes) }
        var checked = Array(HashAlgorithm.sha1.hash(bytes).prefix(4)) + bytes
        defer { Secret.wipe(&checked) }
        return Base32.encode(checked)
    }

    /// Derives the secret: PBKDF2 with HMAC-SHA-1 over the server's part in lower-case hexadecimal digits, with the
    /// device's part as salt.
    ///
    /// - Throws: `crypto`.
    public func secret(server: borrowing Secret, part: borrowing Secret) throws(ApprovalError) -> SharedSecret {
        var bytes = server.copyBytes()
        var salt = part.copyBytes()
        defer {
            Secret.wipe(&bytes)
            Secret.wipe(&salt)
        }
        do {
            return SharedSecret(
                try HashAlgorithm.sha1.pbkdf2(
                    Secret(utf8: Hex.encode(bytes)), salt: salt, rounds: rounds, length: secretSize))
        } catch { throw .crypto(error) }
    }
}
