// SPDX-License-Identifier: Apache-2.0

import YKOATH
import YKWire

/// The action of a link or a QR code, used wherever links are opened, enrolled or named.
public enum ApprovalLink: Sendable {
    /// Enrolls an account that approves requests: `otpauth://pipush`, `pia://pipush`.
    case push(PushLink)
    /// Enrolls an account of TiQR: `tiqrenroll://`.
    case tiqrEnrolment(TiQREnrolmentLink)
    /// Logs in with TiQR: `tiqrauth://`.
    case tiqrLogin(TiQRLogin)
    /// Adds an account with one-time codes: `otpauth://totp`, `otpauth://hotp`.
    case code(CodeLink)
    /// Registers the key as a container: `pia://container`.
    case container(ContainerLink)
    /// Transfers accounts of another app: `otpauth-migration://`.
    case transfer
    /// Any other text, to be signed with an offline code.
    case text(String)

    /// The kinds of links, with names for programs. A text of no known kind may be one to sign: the text itself does
    /// not show its purpose.
    public enum Kind: String, CaseIterable, Sendable {
        /// Enrolls an account.
        case enrollment
        /// A login that is answered online.
        case onlineAuth
        /// A text of no known form. It can be signed with an offline code, if the service asks for that.
        case unknown
        /// Registers a container.
        case container
        /// Accounts of another app.
        case transfer
        /// A malformed link, or one of another scheme.
        case invalid
    }

    /// The URL schemes that a desktop registers.
    public static let schemes = ["pia", "tiqrauth", "tiqrenroll", "otpauth"]
    /// Maximum length of an offline code's text, in bytes.
    public static let textLimit = 1024

    /// Reads a link or a text.
    ///
    /// - Throws: `malformed` for a malformed link or another scheme, `link` for an invalid account with codes,
    ///   `unsupportedVersion` and `unsupportedKey`.
    public init(_ text: String) throws(ApprovalError) {
        let text = text.trimmed
        guard let scheme = Self.scheme(of: text) else {
            guard (1...Self.textLimit).contains(text.utf8.count),
                !text.unicodeScalars.contains(where: { $0.isHazardous && $0 != "\n" })
            else { throw .malformed("neither a link nor a text that can be signed") }
            self = .text(text)
            return
        }
        switch scheme {
        case "tiqrenroll": self = .tiqrEnrolment(try TiQREnrolmentLink(text))
        case "tiqrauth": self = .tiqrLogin(try TiQRLogin(text))
        case "https" where Self.isTiQR(text, "tiqrauth", ["s", "q", "i"]): self = .tiqrLogin(try TiQRLogin(text))
        case "https" where Self.isTiQR(text, "tiqrenroll", ["metadata"]):
            self = .tiqrEnrolment(try TiQREnrolmentLink(text))
        case "otpauth-migration": self = .transfer
        case "pia", "otpauth":
            if PushLink.matches(text) {
                self = .push(try PushLink(text))
            } else if scheme == "pia" {
                self = .container(try ContainerLink(text))
            } else {
                self = .code(try CodeLink(text))
            }
        default: throw .malformed("links of '\(scheme)' are not for approvals")
        }
    }

    /// Whether a web address is a link of TiQR: its path and parameters say so.
    private static func isTiQR(_ text: String, _ path: String, _ parameters: [String]) -> Bool {
        guard let link = try? LinkQuery(text) else { return false }
        return link.path.split(separator: "/").last.map(String.init) == path
            && parameters.allSatisfy { link[$0] != nil }
    }

    /// The action of the link.
    public var kind: Kind {
        switch self {
        case .push, .tiqrEnrolment, .code: .enrollment
        case .tiqrLogin: .onlineAuth
        case .text: .unknown
        case .container: .container
        case .transfer: .transfer
        }
    }

    /// The protocol: `push`, `tiqr`, `totp`, `hotp`, `container`, `otpauth-migration`; `nil` for a text.
    public var protocolName: String? {
        switch self {
        case .push: "push"
        case .tiqrEnrolment, .tiqrLogin: "tiqr"
        case .code(let link): link.account.id.type == .hotp ? "hotp" : "totp"
        case .container: "container"
        case .transfer: "otpauth-migration"
        case .text: nil
        }
    }

    /// The host and port of the link; `nil` if it has none.
    public var server: String? {
        switch self {
        case .push(let link): PushAccount.server(of: link.url)
        case .tiqrEnrolment(let link): PushAccount.server(of: link.metadata)
        case .container(let link): PushAccount.server(of: link.server)
        case .tiqrLogin, .code, .transfer, .text: nil
        }
    }

    /// The serial number of the server's token or container; `nil` if the link has none.
    public var serial: String? {
        switch self {
        case .push(let link): link.serial
        case .tiqrEnrolment(let link): link.serial
        case .code(let link): link.serial
        case .container(let link): link.serial
        case .tiqrLogin, .transfer, .text: nil
        }
    }

    /// The scheme in lower case (RFC 3986 §3.1); `nil` for a string that does not begin with one and `://`.
    private static func scheme(of text: String) -> String? {
        let scheme = text.utf8.prefix { byte in
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2B, 0x2D, 0x2E: true
            default: false
            }
        }
        guard !scheme.isEmpty, text.utf8.dropFirst(scheme.count).starts(with: Array("://".utf8)) else { return nil }
        return String(decoding: Array(scheme), as: UTF8.self).lowercased()
    }
}
