// SPDX-License-Identifier: Apache-2.0

import YKWire

/// The content of a QR code of any kind.
public struct QRPayload: Hashable, Sendable {
    /// The purpose of a code, judged by its form alone.
    public enum Kind: String, Hashable, Sendable, CaseIterable {
        /// An account of one-time codes: `otpauth:`, `steam:`.
        case account
        /// Accounts that Google Authenticator exports: `otpauth-migration:`.
        case migration
        /// A SecurID token, or the link to fetch one.
        case securID = "securid"
        /// A passkey ceremony with a phone: `FIDO:/` followed by digits.
        case passkey
        /// An enrollment or login of an approval app: TiQR, privacyIDEA.
        case approval
        /// A wireless network, with its password.
        case wifi
        /// A web page.
        case web
        /// A person, a phone number, an address or a date.
        case contact
        /// A URI with another scheme.
        case uri
        /// Any other text.
        case text
        /// No text.
        case binary
    }

    /// The bytes.
    public let bytes: [UInt8]
    /// The text, decoded from UTF-8 or another common encoding; `nil` for a code without text.
    public let text: String?
    /// The purpose of the code.
    public let kind: Kind
    /// Whether the encoding of the text is certain: UTF-8 or UTF-16. QR readers do not report any other that a code names.
    public let isEncodingCertain: Bool

    /// Recognizes the bytes of a code.
    public init(_ bytes: [UInt8]) {
        self.bytes = bytes
        text = TextFile.decode(bytes)
        isEncodingCertain = TextFile.unicode(bytes) != nil
        kind = text.map { Self.kind(of: $0.trimmed.lowercased()) } ?? .binary
    }

    /// Whether it may hold a secret: true for everything except contacts and web addresses without password and
    /// parameters. Text may be a password or a key, and what a link authorizes is unknown.
    public var mayHoldSecret: Bool {
        switch kind {
        case .contact: false
        case .web: text != masked
        default: true
        }
    }

    /// The text with "…" in place of anything that may be secret; `nil` if all of it may be.
    ///
    /// Of a URI only the scheme remains, of a web address everything up to its parameters, and of an account what a key
    /// reveals: name, issuer and parameters.
    public var masked: String? {
        guard let text = text?.trimmed else { return nil }
        switch kind {
        case .contact: return text
        case .web: return Self.maskedWeb(text)
        case .account where text.lowercased().hasPrefix("otpauth:"): return Self.maskedAccount(text)
        case .text, .binary: return nil
        default: return text.split(separator: ":", maxSplits: 1).first.map { "\($0):…" }
        }
    }

    private static let schemes: [(String, Kind)] = [
        ("otpauth:", .account), ("steam:", .account), ("otpauth-migration:", .migration), ("com.rsa.securid", .securID),
        ("securidauthenticator:", .securID), ("fido:", .passkey), ("tiqr", .approval), ("pia:", .approval),
        ("wifi:", .wifi),
        ("mailto:", .contact), ("tel:", .contact), ("sms:", .contact), ("smsto:", .contact), ("geo:", .contact),
        ("mecard:", .contact), ("begin:vcard", .contact), ("begin:vevent", .contact), ("begin:vcalendar", .contact),
    ]

    private static func kind(of text: String) -> Kind {
        if let known = schemes.first(where: { text.hasPrefix($0.0) }) { return known.1 }
        if text.hasPrefix("http://127.0.0.1/securid/") { return .securID }
        if text.hasPrefix("https://") || text.hasPrefix("http://") { return .web }
        let scheme = text.prefix { $0 != ":" }
        let isURI =
            scheme.utf8.count < text.utf8.count && scheme.first?.isLetter == true
            && scheme.utf8.allSatisfy {
                (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) || [0x2B, 0x2D, 0x2E].contains($0)
            }
        return isURI ? .uri : .text
    }

    /// A web address without user information, parameters and fragment.
    private static func maskedWeb(_ text: String) -> String {
        let parts = text.split(separator: "/", maxSplits: 3, omittingEmptySubsequences: false)
        guard parts.count > 2 else { return text }
        let host = parts[2].split(separator: "@").last.map(String.init) ?? ""
        let user = parts[2].utf8.contains(UInt8(ascii: "@")) ? "…@" : ""
        let rest = parts.count > 3 ? "/" + parts[3] : ""
        let whole = "\(parts[0])//\(user)\(host)\(rest)"
        let page = whole.prefix { $0 != "?" && $0 != "#" }
        return page.endIndex == whole.endIndex ? whole : page + String(whole[page.endIndex]) + "…"
    }

    /// An account URI with the parameters that a key reveals, and only the names of the others.
    private static func maskedAccount(_ text: String) -> String {
        let shown = ["issuer", "algorithm", "digits", "period", "counter"]
        let halves = text.split(separator: "?", maxSplits: 1)
        guard halves.count == 2 else { return halves.map(String.init).first ?? "" }
        let parameters = halves[1].split(separator: "&").map { parameter in
            let name = parameter.prefix { $0 != "=" }
            return shown.contains(name.lowercased()) ? String(parameter) : name + "=…"
        }
        return halves[0] + "?" + parameters.listed(by: "&")
    }
}
